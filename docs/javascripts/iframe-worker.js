// Browsers start no worker for a page that was opened from a folder, and the search runs in one.
// There a hidden frame takes its place: it runs the same script, and messages go straight to it.
// The file's name tells zensical that it need not load such a thing from elsewhere.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.answer = (data) => this.deliver(this, data)
      this.frame.fail = () => this.onerror?.(new Event("error"))
      const script = new URL(url, document.baseURI).href
      this.frame.srcdoc =
        "<script>self.postMessage = (data) => frameElement.answer(data)</script>" +
        `<script src="${script}" onerror="frameElement.fail()"></script>`
      this.loaded = new Promise((resolve) => this.frame.addEventListener("load", resolve))
      document.documentElement.append(this.frame)
    }

    postMessage(data) {
      this.loaded.then(() => this.deliver(this.frame.contentWindow, data))
    }

    deliver(receiver, data) {
      const copy = structuredClone(data) // neither side sees what the other makes of it
      setTimeout(() => receiver?.onmessage?.({ data: copy }))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
