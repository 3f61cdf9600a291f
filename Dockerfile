# A model behind `clearbands serve`. Build it with the model beside you:
#   docker build --tag houses .
#   docker run --rm -p 8000:8000 -v ./houses.clear:/model.clear:ro houses
FROM python:3.12-slim

# numba keeps compiled kernels between starts here; nobody but the service's user may write to it.
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 NUMBA_CACHE_DIR=/var/cache/clearbands
RUN useradd --system --no-create-home service && install -d -o service /var/cache/clearbands

WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip install ".[serve]"

USER service
WORKDIR /
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["clearbands", "serve"]
CMD ["/model.clear", "--host", "0.0.0.0", "--port", "8000"]
