// FastAPI's own page, Swagger UI, with the token of the service where it has one.

const $ = (id) => document.getElementById(id);
const dark = matchMedia("(prefers-color-scheme: dark)");
let token = "";

function paint() {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
}

async function start() {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch("openapi.json", { headers });
  $("login").hidden = answer.ok;
  $("login-problem").textContent = token && !answer.ok ? "That is not the token." : "";
  if (!answer.ok) return;
  SwaggerUIBundle({
    spec: await answer.json(),
    dom_id: "#swagger-ui",
    defaultModelsExpandDepth: -1,
    docExpansion: "list",
    requestInterceptor: (request) => Object.assign(request, { headers: { ...request.headers, ...headers } }),
    tryItOutEnabled: true,
  });
}

$("login").addEventListener("submit", (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  start();
});
dark.addEventListener("change", paint);
paint();
start();
