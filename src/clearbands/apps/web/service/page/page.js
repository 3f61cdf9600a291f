// The OpenAPI description as a page: what can be asked, what comes back, and a form to try it.

const $ = (id) => document.getElementById(id);
let token = "";

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Words of the description, where what stands between backticks is code.
function prose(text) {
  return text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));
}

function headers(extra = {}) {
  return token ? { ...extra, Authorization: `Bearer ${token}` } : extra;
}

async function start() {
  const answer = await fetch("openapi.json", { headers: headers() });
  $("login").hidden = answer.status !== 401 && !token;
  if (answer.status === 401) {
    $("login-problem").textContent = token ? "That is not the token." : "";
    return;
  }
  const description = await answer.json();
  $("login-problem").textContent = "";
  $("title").textContent = `${description.info.title} ${description.info.version}`;
  $("summary").textContent = description.info.summary;
  const sections = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, said]) => section(path, method, said, description)));
  $("paths").replaceChildren(...sections);
}

function section(path, method, said, description) {
  const made = element("section", {},
    element("h2", {}, element("code", {}, `${method.toUpperCase()} ${path}`), ` ${said.summary}`));
  if (said.description) made.append(element("p", {}, ...prose(said.description)));
  const asked = said.requestBody?.content;
  if (asked) made.append(element("h3", {}, "Request body: the columns of a row"), columns(asked["application/json"].schema));
  const parameters = said.parameters ?? [];
  if (parameters.length > 0) made.append(element("h3", {}, "Query parameters"), questions(parameters));
  made.append(tryIt(path, method, asked, parameters.length > 0));
  made.append(element("h3", {}, "Responses"), answers(said.responses, description));
  return made;
}

function columns(body) {
  const row = body.properties.rows.items.properties;
  const lines = Object.entries(row).map(([name, schema]) => element("tr", {},
    element("td", {}, element("code", {}, name)),
    element("td", {}, [schema.type].flat().join(" or ")),
    element("td", {}, ...prose(schema.format ?? schema.description ?? ""))));
  return element("div", { class: "wide", tabindex: 0 }, element("table", {}, ...lines));
}

function questions(parameters) {
  const lines = parameters.map(({ name, description, schema }) => element("tr", {},
    element("td", {}, element("code", {}, name)),
    element("td", {}, typeOf(schema.items ?? schema)),
    element("td", {}, ...prose(description))));
  return element("div", { class: "wide", tabindex: 0 }, element("table", {}, ...lines));
}

function tryIt(path, method, asked, hasQuestions) {
  const made = element("form");
  const shown = element("pre", { "aria-live": "polite" });
  const types = Object.keys(asked ?? {});
  const type = element("select", { "aria-label": "Content type" },
    ...types.map((name) => element("option", {}, name)));
  const address = element("input", { placeholder: "level=0.8&quantile=0.1&above=400", "aria-label": "Query parameters" });
  const body = element("textarea", { rows: 8, spellcheck: "false", "aria-label": "Request body" });
  const fill = () => {
    const example = asked[type.value].example;
    body.value = typeof example === "string" ? example : JSON.stringify(example, null, 2);
  };
  if (asked) {
    type.addEventListener("change", fill);
    fill();
    made.append(type, body);
  }
  if (hasQuestions) made.append(address);
  made.append(element("button", {}, "Try it"), shown);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    const options = { method: method.toUpperCase(), headers: headers() };
    if (asked) Object.assign(options, { headers: headers({ "Content-Type": type.value }), body: body.value });
    const asking = address.value.trim().replace(/^\?/, "");
    shown.textContent = await ask(asking ? `${path}?${asking}` : path, options);
  });
  return made;
}

async function ask(path, options) {
  try {
    const answer = await fetch(path.slice(1), options);
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    const body = isJson ? JSON.stringify(JSON.parse(text), null, 2) : text;
    return `${answer.status} ${answer.statusText}\n${body}`;
  } catch (error) {
    return `No answer: ${error.message}`;
  }
}

function answers(responses, description) {
  const lines = Object.entries(responses).map(([status, said]) => {
    const content = said.content?.["application/json"];
    const schema = content?.schema;
    const fields = status === "200" && schema ? [fieldsOf(schema, description)] : [];
    return element("tr", {}, element("td", {}, element("code", {}, status)),
      element("td", {}, ...prose(said.description), ...fields));
  });
  return element("div", { class: "wide", tabindex: 0 }, element("table", {}, ...lines));
}

// The fields of an answer, with those of the objects in it.
function fieldsOf(schema, description) {
  const found = resolve(schema, description);
  const list = element("ul");
  for (const [name, field] of Object.entries(found.properties ?? {})) {
    const item = element("li", {}, element("code", {}, name));
    const type = typeOf(field);
    if (type) item.append(` ${type}`);
    if (field.description) item.append(": ", ...prose(field.description));
    const inner = resolve(field.items ?? field, description);
    if (inner.properties) item.append(fieldsOf(inner, description));
    list.append(item);
  }
  return list;
}

function typeOf(field) {
  if (field.anyOf) return field.anyOf.map((one) => one.type).join(" or ");
  if (field.type === "array") return "list";
  return field.type ?? "";
}

function resolve(schema, description) {
  if (!schema.$ref) return schema;
  return schema.$ref.split("/").slice(1).reduce((place, key) => place[key], description);
}

$("login").addEventListener("submit", (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  start();
});
start();
