"use strict";
const byId = (id) => document.getElementById(id);
const KEPT = ["query", "variables", "operation", "client", "version", "user"];

function headers() {
  const all = { "content-type": "application/json", accept: "application/graphql-response+json" };
  const optional = { "x-client-name": "client", "x-client-version": "version", "x-dev-user": "user" };
  for (const [name, id] of Object.entries(optional)) {
    if (byId(id).value) all[name] = byId(id).value;
  }
  if (byId("token").value) all.authorization = "Bearer " + byId("token").value;
  return all;
}

async function send(body) {
  const answer = await fetch(location.pathname, {
    method: "POST", headers: headers(), body: JSON.stringify(body), credentials: "omit",
  });
  return { status: answer.status, id: answer.headers.get("x-request-id"), text: await answer.text() };
}

async function run() {
  for (const id of KEPT) sessionStorage.setItem(id, byId(id).value);
  byId("status").textContent = "…";
  try {
    const variables = JSON.parse(byId("variables").value || "{}");
    const operationName = byId("operation").value || null;
    const answer = await send({ query: byId("query").value, variables, operationName });
    byId("status").textContent = answer.status + " · " + answer.id;
    byId("result").textContent = JSON.stringify(JSON.parse(answer.text), null, 2);
  } catch (error) {
    byId("status").textContent = "failed";
    byId("result").textContent = String(error);
  }
}

const TYPE = "kind name ofType { kind name ofType { kind name ofType { kind name } } }";
const SCHEMA = `{ __schema { types { name kind description
  fields(includeDeprecated: true) { name description args { name type { ${TYPE} } } type { ${TYPE} } }
  inputFields { name type { ${TYPE} } } enumValues { name } } } }`;

function typeText(type) {
  if (!type) return "";
  if (type.kind === "NON_NULL") return typeText(type.ofType) + "!";
  if (type.kind === "LIST") return "[" + typeText(type.ofType) + "]";
  return type.name;
}

function lines(type) {
  const fields = (type.fields || []).map((field) => {
    const args = field.args.map((arg) => arg.name + ": " + typeText(arg.type)).join(", ");
    return field.name + (args ? "(" + args + ")" : "") + ": " + typeText(field.type);
  });
  const inputs = (type.inputFields || []).map((field) => field.name + ": " + typeText(field.type));
  return fields.concat(inputs, (type.enumValues || []).map((value) => value.name));
}

let types = [];
function showDocs() {
  const wanted = byId("filter").value.toLowerCase();
  const list = document.createElement("dl");
  for (const type of types) {
    const all = lines(type);
    const whole = type.name.toLowerCase().includes(wanted);
    const shown = whole ? all : all.filter((line) => line.toLowerCase().includes(wanted));
    if (!whole && !shown.length) continue;
    const term = document.createElement("dt");
    term.textContent = type.name;
    term.title = type.description || "";
    list.append(term);
    for (const line of shown) {
      const entry = document.createElement("dd");
      entry.textContent = line;
      list.append(entry);
    }
  }
  byId("docs").replaceChildren(list);
}

async function loadDocs() {
  try {
    const answer = JSON.parse((await send({ query: SCHEMA })).text);
    types = answer.data.__schema.types.filter((type) => !type.name.startsWith("__"));
    showDocs();
  } catch {
    byId("docs").textContent = "The schema cannot be read here.";
  }
}

for (const id of KEPT) {
  const kept = sessionStorage.getItem(id);
  if (kept !== null) byId(id).value = kept;
}
byId("run").addEventListener("click", run);
byId("filter").addEventListener("input", showDocs);
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
});
loadDocs();
