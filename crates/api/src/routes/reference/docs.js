// Shows the OpenAPI document of this server as a reference: areas, routes, their parameters, bodies and answers, and curl lines
// for this address. What a route has inside is made when it is opened, so that the page is there at once.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];
const SAMPLE_ID = "9c36e8c7-5a73-47c0-9716-99fd3d4197d5";
const DEEPEST_SAMPLE = 4;
// Where this server is, also behind a proxy that gives it a path of its own.
const BASE = new URL(".", location.href).href.replace(/\/$/, "");
const byId = (id) => document.getElementById(id);

let api;

/** An element with attributes and children; text is never read as HTML. */
function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false && child !== "" && child !== 0));
  return element;
}

/** A sentence whose words in backticks are code. */
function prose(text) {
  return (text ?? "").split("`").map((part, n) => (n % 2 ? el("code", {}, part) : part));
}

/** A disclosure whose inside is made when it is first opened. */
function disclosure(attributes, summary, make) {
  const details = el("details", attributes, el("summary", {}, summary));
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(make());
  });
  return details;
}

function resolve(thing) {
  if (!thing?.$ref) return thing ?? {};
  const found = thing.$ref.slice(2).split("/").reduce((at, key) => at?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], api);
  const { $ref, ...beside } = thing;
  return { ...found, ...beside };
}

const nameOf = (schema) => schema?.$ref?.split("/").pop();

/** A pattern without what only machines need: `^[aA][lL][lL]$` is "all" in any letter case. */
function patternText(pattern) {
  const plain = pattern.replaceAll(/\[(.)(.)\]/g, (pair, a, b) => (a.toLowerCase() === b.toLowerCase() ? a.toLowerCase() : pair));
  return plain === pattern ? pattern : plain.replace(/^\^\(?/, "").replace(/\)?\$$/, "").replaceAll("|", " or ");
}

/** What is allowed, in a few words. */
function typeText(schema) {
  const name = nameOf(schema);
  const at = resolve(schema);
  if (at === true || Object.keys(at).length === 0) return "anything";
  if (at.const !== undefined) return JSON.stringify(at.const);
  if (at.enum) return at.enum.map((word) => JSON.stringify(word)).join(" | ");
  const forms = at.oneOf ?? at.anyOf;
  if (forms && !at.properties) {
    // A name stands for what it names, which may contain itself.
    if (name && forms.some((form) => inner(form).length)) return name;
    const texts = [...new Set(forms.map(typeText))];
    return texts.length <= 4 ? texts.join(" or ") : `one of ${texts.length} forms`;
  }
  const types = [at.type ?? "anything"].flat();
  return types.map((type) => {
    if (type === "array") return at.items ? `array of ${typeText(at.items)}` : "array";
    if (type === "object") return name ?? (at.additionalProperties?.type || at.additionalProperties?.$ref ? `object of ${typeText(at.additionalProperties)}` : "object");
    if (type === "string" && at.format) return at.format === "uuid" ? "UUID" : at.format;
    return type;
  }).join(" or ");
}

function limitsText(schema) {
  const at = resolve(schema);
  const limits = [];
  const range = (low, high, unit) => {
    if (low !== undefined && high !== undefined) limits.push(low === high ? `${low}${unit}` : `${low} to ${high}${unit}`);
    else if (low !== undefined && low > 0) limits.push(`at least ${low}${unit}`);
    else if (high !== undefined) limits.push(`at most ${high}${unit}`);
  };
  const most = at.maximum >= 4294967295 ? undefined : at.maximum;
  range(at.minimum, most, "");
  range(at.minLength, at.maxLength, " characters");
  range(at.minItems, at.maxItems, " items");
  range(at.minProperties, at.maxProperties, " keys");
  if (at.pattern) limits.push(patternText(at.pattern));
  if (at.uniqueItems) limits.push("each once");
  if (at.default !== undefined) limits.push(`default ${JSON.stringify(at.default)}`);
  return limits.join(", ");
}

/** The schemas below this one that have keys or forms of their own. What contains itself is followed once. */
function inner(schema, followed = []) {
  const name = nameOf(schema);
  if (name && followed.includes(name)) return [];
  const further = name ? [...followed, name] : followed;
  const at = resolve(schema);
  if (Object.keys({ ...at.properties, ...at.patternProperties }).length) return [schema];
  const below = [at.oneOf, at.anyOf, at.allOf, at.items, at.additionalProperties].flat();
  const found = below.filter((one) => typeof one === "object").flatMap((one) => inner(one, further));
  return found.filter((one, n) => !nameOf(one) || found.findIndex((other) => nameOf(other) === nameOf(one)) === n);
}

function field(name, schema, isRequired, description) {
  const at = resolve(schema);
  const limits = limitsText(schema);
  const below = inner(schema);
  const more = below.length && disclosure({ class: "more" }, below.length === 1 ? "Show keys" : `Show ${below.length} forms`, () =>
    el("div", { class: "body" }, formsView(below)));
  return el("li", {},
    el("div", { class: "name" }, name, isRequired && el("span", { class: "need" }, "required")),
    el("div", { class: "type" }, el("b", {}, typeText(schema)), limits && `, ${limits}`),
    (description ?? at.description) && el("p", { class: "says" }, prose(description ?? at.description)),
    more || undefined);
}

/** The keys of an object, the required ones first. */
function fields(schema) {
  const at = resolve(schema);
  const required = new Set(at.required ?? []);
  const entries = Object.entries(at.properties ?? {});
  entries.sort(([a], [b]) => required.has(b) - required.has(a));
  entries.push(...Object.entries(at.patternProperties ?? {}).map(([pattern, value]) => [patternText(pattern), value]));
  const forms = (at.oneOf ?? at.anyOf ?? []).concat(at.allOf ?? []).filter((form) => inner(form).length);
  return el("div", {},
    entries.length ? el("ul", { class: "fields" }, entries.map(([key, value]) => field(key, value, required.has(key)))) : undefined,
    entries.length && forms.length ? el("p", { class: "note" }, forms.length === 1 ? "Together with:" : "Together with one of:") : undefined,
    entries.length ? forms.map((form) => fields(form)) : undefined);
}

/** What tells one form of an object from the others, in a few words. */
function formTitle(schema) {
  const at = resolve(schema);
  const constant = Object.entries(at.properties ?? {}).find(([, value]) => resolve(value).const !== undefined);
  if (at.description) return prose(at.description);
  if (nameOf(schema)) return [nameOf(schema)];
  return [constant ? `${constant[0]} ${JSON.stringify(resolve(constant[1]).const)}` : `With ${(at.required ?? Object.keys({ ...at.properties, ...at.patternProperties }).map(patternText)).join(", ")}`];
}

/** One object as it is; several as a list to choose from. */
function formsView(forms) {
  if (forms.length === 1) return fields(forms[0]);
  return forms.map((form) => disclosure({ class: "more" }, formTitle(form), () => el("div", { class: "body" }, fields(form))));
}

function schemaView(schema) {
  const below = inner(schema);
  const at = resolve(schema);
  const words = [typeText(schema), limitsText(schema)].filter(Boolean).join(", ");
  return el("div", {},
    el("p", { class: "note" }, words, at.description && [". ", prose(at.description)]),
    below.length > 1 ? el("p", { class: "note" }, "One of these forms:") : undefined,
    below.length ? formsView(below) : undefined);
}

/** A value that a schema allows, to show what an answer looks like. */
function sample(schema, depth = 0) {
  const at = resolve(schema);
  if (at.const !== undefined) return at.const;
  if (at.examples?.length) return at.examples[0];
  if (at.default !== undefined) return at.default;
  if (at.enum) return at.enum[0];
  const forms = at.oneOf ?? at.anyOf;
  if (forms && !at.properties) return depth > DEEPEST_SAMPLE ? null : sample(forms[0], depth + 1);
  const type = [at.type ?? (at.properties ? "object" : "null")].flat()[0];
  if (type === "object") {
    if (depth > DEEPEST_SAMPLE) return {};
    const parts = [at, ...(at.allOf ?? []).map(resolve), ...(forms ? [resolve(forms[0])] : [])];
    const entries = parts.flatMap((part) => Object.entries(part.properties ?? {}));
    const made = Object.fromEntries(entries.map(([key, value]) => [key, sample(value, depth + 1)]));
    if (typeof at.additionalProperties === "object" && !entries.length) made["…"] = sample(at.additionalProperties, depth + 1);
    return made;
  }
  if (type === "array") return depth > DEEPEST_SAMPLE || at.maxItems === 0 ? [] : [sample(at.items ?? {}, depth + 1)];
  if (type === "string") return at.format === "uuid" ? SAMPLE_ID : "…";
  if (type === "integer" || type === "number") return at.minimum > 0 ? at.minimum : 0;
  if (type === "boolean") return true;
  return null;
}

function codeBlock(text, label) {
  const code = el("code", {}, text);
  const button = el("button", { type: "button", "aria-label": `Copy ${label}` }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      // Without TLS there is no clipboard: the text is selected, to be copied by hand.
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  return el("pre", { class: "code" }, button, code);
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const shellName = (name) => (name === "key" ? "AEROGRAM_APP_KEY" : name.toUpperCase());

function credentialsOf(operation) {
  const names = (operation.security ?? []).flatMap(Object.keys);
  if (names.includes("app_key")) return '-H "X-UA-Appkey: $AEROGRAM_APP_KEY"';
  if (names.includes("operator_token")) return '-H "Authorization: Bearer $AEROGRAM_OPERATOR_TOKEN"';
  if (names.includes("inbox")) return '-u "$USER_ID:$PASSWORD"';
  if (names.includes("app_secret")) return '-u "$AEROGRAM_APP_KEY:$AEROGRAM_APP_SECRET"';
  if (names.includes("master_secret")) return '-u "$AEROGRAM_APP_KEY:$AEROGRAM_MASTER_SECRET"';
  return "";
}

function curl(method, path, operation) {
  const [mediaType, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const query = operation.parameters.filter((one) => one.in === "query" && one.required)
    .map((one) => `${one.name}=${encodeURIComponent(sample(one.schema))}`).join("&");
  const url = BASE + path.replaceAll(/\{(\w+)\}/g, (_, name) => `$${shellName(name)}`) + (query && `?${query}`);
  const parts = ["curl", credentialsOf(operation)];
  const usual = content ? "post" : "get";
  if (method !== usual) parts.push(`-X ${method.toUpperCase()}`);
  if (operation["x-stream"]) parts.push("-N");
  const isText = mediaType && !mediaType.includes("json");
  if (operation.parameters.some((one) => one.name === "X-UA-Channel-ID")) parts.push('-H "X-UA-Channel-ID: $CHANNEL_ID"');
  if (content && isText) parts.push(`-H 'Content-Type: ${mediaType}'`);
  const lines = [parts.filter(Boolean).join(" ")];
  if (content) {
    const text = isText ? String(content.example ?? "") : JSON.stringify(content.example ?? sample(content.schema), null, 2);
    lines.push(`${isText ? "--data-binary" : "-d"} ${quoted(text)}`);
  }
  lines.push(`"${url}"`);
  return lines.join(" \\\n  ");
}

function accessView(operation) {
  const names = (operation.security ?? []).flatMap(Object.keys);
  if (!names.length) return el("p", { class: "note" }, "No credentials are needed.");
  return el("ul", { class: "chips" }, names.map((name) => el("li", {}, el("a", { href: "#credentials" }, name.replaceAll("_", " ")))));
}

function answerView(status, answer) {
  const at = resolve(answer);
  const contents = Object.entries(at.content ?? {});
  const heading = [el("span", { class: `status s${status[0]}` }, status), el("span", {}, prose(at.description))];
  const headers = Object.entries(at.headers ?? {});
  if (!contents.length && !headers.length) return el("div", { class: "answer" }, el("div", { class: "plain" }, heading));
  return disclosure({ class: "answer" }, heading, () => el("div", { class: "body" },
    headers.length ? [el("p", { class: "note" }, "Headers"), el("ul", { class: "fields" }, headers.map(([name, header]) => field(name, header.schema, false, header.description)))] : undefined,
    contents.slice(0, status < "300" ? contents.length : 1).map(([mediaType, { schema }]) => [
      el("p", { class: "note" }, el("code", {}, mediaType)),
      mediaType.includes("json") && schema ? [schemaView(schema), codeBlock(JSON.stringify(sample(schema), null, 2), "the answer")] : undefined,
    ])));
}

function inside(method, path, operation) {
  const parameters = operation.parameters ?? [];
  const content = Object.values(operation.requestBody?.content ?? {})[0];
  const places = [["path", "Path"], ["query", "Query"], ["header", "Headers"]].map(([place, title]) => [title, parameters.filter((one) => one.in === place)]);
  return el("div", { class: "inside" },
    el("p", { class: "lead" }, prose(operation.description)),
    accessView(operation),
    el("h4", {}, "Call it"),
    codeBlock(curl(method, path, operation), "the curl line"),
    places.filter(([, some]) => some.length).map(([title, some]) => [
      el("h4", {}, title),
      el("ul", { class: "fields" }, some.map((one) => field(one.name, one.schema, one.required, one.description))),
    ]),
    content && [el("h4", {}, operation.requestBody.required ? "Body" : "Body, which may be left out"), schemaView(content.schema)],
    el("h4", {}, "Answers"),
    answersView(Object.entries(operation.responses)));
}

/** Errors that most routes share are behind one line. */
function answersView(answers) {
  const shared = answers.filter(([, answer]) => answer.$ref);
  const own = answers.filter(([, answer]) => !answer.$ref);
  const summary = [el("span", { class: "status s4" }, shared.map(([status]) => status).join(" ")), el("span", {}, "Errors in the common form")];
  return [
    own.map(([status, answer]) => answerView(status, answer)),
    shared.length ? disclosure({ class: "answer" }, summary, () => el("div", { class: "body" }, shared.map(([status, answer]) => answerView(status, answer)))) : undefined,
  ];
}

function operationView(method, path, operation) {
  const id = operation.operationId;
  const summary = [
    el("span", { class: `method ${method}` }, method.toUpperCase()),
    el("h3", {}, operation.summary),
    el("a", { class: "anchor", href: `#${id}`, "aria-label": `Link to ${operation.summary}` }, "#"),
    el("code", { class: "path" }, path),
  ];
  const details = disclosure({ class: "op", id }, summary, () => inside(method, path, operation));
  details.dataset.words = `${method} ${path} ${operation.summary} ${operation.description} ${operation.tags}`.toLowerCase();
  return details;
}

function show() {
  document.title = `${api.info.title} API`;
  byId("version").textContent = `Version ${api.info.version}, at ${BASE}`;
  byId("about").append(...prose(api.info.description));
  byId("variables").textContent = ["APP_KEY", "MASTER_SECRET", "APP_SECRET", "OPERATOR_TOKEN"].map((name) => `export AEROGRAM_${name}=…`).join("\n");
  const inOrder = (a, b) => a["x-order"] - b["x-order"];
  const schemes = Object.entries(api.components.securitySchemes).sort(([, a], [, b]) => inOrder(a, b));
  for (const [name, scheme] of schemes) {
    byId("schemes").append(el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, prose(scheme.description)));
  }
  const all = Object.entries(api.paths).flatMap(([path, item]) => METHODS.filter((method) => item[method]).map((method) => ({ path, method, operation: item[method] })));
  for (const { name, description } of api.tags) {
    const id = `area-${name.toLowerCase().replaceAll(" ", "-")}`;
    const some = all.filter(({ operation }) => operation.tags.includes(name)).sort((a, b) => inOrder(a.operation, b.operation));
    byId("reference").append(el("section", { class: "area", id, "aria-labelledby": `${id}-title` },
      el("h2", { id: `${id}-title` }, name), el("p", {}, prose(description)),
      some.map(({ path, method, operation }) => operationView(method, path, operation))));
    byId("areas").append(el("li", {}, el("a", { href: `#${id}` }, name, el("span", {}, String(some.length)))));
  }
}

function search() {
  const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const area of document.querySelectorAll(".area")) {
    let here = 0;
    for (const one of area.querySelectorAll(".op")) {
      one.hidden = !words.every((word) => one.dataset.words.includes(word));
      here += !one.hidden;
    }
    area.hidden = here === 0;
    found += here;
  }
  document.querySelector(".intro").hidden = words.length > 0;
  byId("found").textContent = words.length ? (found === 1 ? "1 route" : `${found} routes`) : "";
}

/** Opens the route that the address names. */
function follow() {
  const target = byId(location.hash.slice(1));
  if (!target) return;
  if (target.hidden || target.closest("[hidden]")) {
    byId("find").value = "";
    search();
  }
  if (target.matches(".op")) target.open = true;
  target.scrollIntoView();
}

function noticeArea() {
  const links = new Map([...document.querySelectorAll("#areas a")].map((link) => [link.hash.slice(1), link]));
  const watcher = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-15% 0px -80% 0px" });
  document.querySelectorAll(".area").forEach((area) => watcher.observe(area));
}

async function start() {
  const wide = matchMedia("(min-width: 56.01rem)");
  const fit = () => { byId("contents").open = wide.matches; };
  wide.addEventListener("change", fit);
  fit();
  try {
    const answer = await fetch(`${BASE}/openapi.json`);
    if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
    api = await answer.json();
    show();
  } catch (error) {
    byId("trouble").hidden = false;
    byId("trouble").textContent = `The document cannot be shown: ${error.message}.`;
    return;
  }
  byId("find").addEventListener("input", search);
  byId("find").value = new URLSearchParams(location.search).get("q") ?? "";
  search();
  addEventListener("hashchange", follow);
  addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      byId("find").focus();
    } else if (event.key === "Escape" && event.target === byId("find")) {
      byId("find").value = "";
      search();
    }
  });
  noticeArea();
  follow();
}

start();
