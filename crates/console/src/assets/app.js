// What pages do without being asked for anew: times in the reader's zone, parts that follow what happens, keys, copying.

const policy = window.trustedTypes?.createPolicy("aerogram", { createHTML: (html) => html });
const parse = (html) => new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");
const find = (selector, root = document) => [...root.querySelectorAll(selector)];

function showTimes(root) {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  for (const time of find("time[datetime]", root)) time.textContent = format.format(new Date(time.dateTime));
  for (const option of find("option[data-at]", root)) option.textContent = `${option.dataset.words} · ${format.format(new Date(option.dataset.at))}`;
}

// What pages have for people with scripts: their times, and buttons that copy, where the browser lets us.
const prepare = (root) => {
  showTimes(root);
  if (navigator.clipboard) for (const button of find("[data-copy]", root)) button.hidden = false;
};
const said = Object.assign(document.createElement("p"), { className: "hidden", role: "status" });
document.body.append(said);
async function copy(button) {
  const copied = await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent).then(() => true, () => false);
  button.textContent = said.textContent = copied ? "Copied" : "Select it and copy it by hand";
  setTimeout(() => { button.textContent = "Copy"; said.textContent = ""; }, 2000);
}

// The page asks for itself again and takes over its new content. A form that somebody is in, or a detail that is open, stays.
let tag = "";
let asking = false;
let again = false;
const isUsed = (content) => content.querySelector("form :focus, form[data-typed], form[data-build]");
async function refresh() {
  const content = document.getElementById("content");
  if (!content || asking || document.hidden) { again = true; return; }
  if (isUsed(content)) return;
  [asking, again] = [true, false];
  try {
    const answer = await fetch(location.href, { headers: { "X-Fragment": "content", ...(tag && { "If-None-Match": tag }) } });
    if (answer.redirected) { location.assign(answer.url); return; }
    if (answer.ok) {
      const fresh = parse(await answer.text()).getElementById("content");
      // Somebody may have begun to type meanwhile.
      if (fresh && !isUsed(content)) {
        tag = answer.headers.get("etag") ?? "";
        const key = (details, index) => details.id || index;
        const open = new Map(find("details", content).map((details, index) => [key(details, index), details.open]));
        const at = document.activeElement?.closest("#content details[id]")?.id;
        find("details", fresh).forEach((details, index) => { details.open = open.get(key(details, index)) ?? details.open; });
        prepare(fresh);
        // What is the same stays, also under a pointer that is just pressed.
        if (fresh.innerHTML !== content.innerHTML) content.replaceWith(document.adoptNode(fresh));
        if (at) document.getElementById(at)?.querySelector("summary")?.focus({ preventScroll: true });
      }
    }
  } catch { /* The stream tells when the service is away. */ }
  asking = false;
  if (again) setTimeout(refresh, 1000);
}

// The stream is open only while the page is seen: browsers have few connections to a host. A stream that is refused is tried again.
function follow(path) {
  const sign = document.getElementById("live");
  const show = (state, words) => { if (sign.dataset.state !== state) { sign.dataset.state = state; sign.textContent = words; } };
  let stream = null;
  let timer = 0;
  const open = () => {
    clearTimeout(timer);
    stream?.close();
    if (document.hidden) { stream = null; return; }
    stream = new EventSource(path);
    stream.addEventListener("hello", () => { show("on", "live"); refresh(); });
    stream.addEventListener("changed", refresh);
    stream.addEventListener("error", () => {
      show("off", "not connected");
      if (stream.readyState === EventSource.CLOSED) timer = setTimeout(open, 5000);
    });
  };
  document.addEventListener("visibilitychange", open);
  open();
}

// A form that is built: what depends on other fields follows a moment after the last key, and so does the draft that is kept.
function build(form) {
  const [pause, keeps] = [{ update: 0, save: 0 }, "autosave" in form.dataset];
  let [newest, isChanged, isLeaving, saving] = [0, false, false, Promise.resolve(200)];
  const typed = (action) => {
    const body = new URLSearchParams(new FormData(form));
    body.set("do", action);
    return body;
  };
  const post = (action) => fetch(form.action, { method: "POST", body: typed(action), headers: { "X-Fragment": "form" } }).catch(() => null);
  const later = (name, wait, work) => { clearTimeout(pause[name]); pause[name] = setTimeout(work, wait); };

  // Details stay open, and whoever is in a field stays in it.
  const swap = (old, fresh) => {
    if (!old || !fresh) return;
    const { name, selectionStart: at } = old.contains(document.activeElement) ? document.activeElement : {};
    const open = find("details", old).map((details) => details.open);
    find("details", fresh).forEach((details, index) => { details.open = open[index] ?? details.open; });
    prepare(fresh);
    if (old === form) form.replaceChildren(...document.adoptNode(fresh).childNodes);
    else old.replaceWith(document.adoptNode(fresh));
    const field = name && form.elements[name];
    field?.focus?.({ preventScroll: true });
    if (at != null && field?.type === "text") field.setSelectionRange(at, at);
  };
  const shape = (rows) => find("[name]", rows).map((field) => [field.name, field.type, field.getAttribute("list"), field.name.startsWith("was") && field.value].join()).join();
  const update = async (action) => {
    const number = ++newest;
    const answer = await post(action);
    const page = answer && parse(await answer.text());
    const fresh = page?.getElementById(form.id);
    if (!fresh) { if (action !== "check") leave(action); return; }
    if (number !== newest) return;
    if (action !== "check") {
      swap(form, fresh);
      const prefix = { add: "kind", "add-trigger": "trigger", "add-language": "lang", "add-variable": "variable" }[action];
      (prefix ? find(`[name^=${prefix}]`, form).at(-1) : form.querySelector("[value=add]"))?.focus();
    } else {
      for (const id of ["known", "rows", "triggers"]) {
        const [old, part] = [document.getElementById(id), page.getElementById(id)];
        if (id === "known" || (part && shape(old) !== shape(part))) swap(old, part);
      }
    }
    swap(document.getElementById("beside"), page.getElementById("beside"));
    zone();
  };

  // The draft is kept while somebody writes. One is saved after the other: each needs the version of the one before.
  const save = () => (saving = saving.then(async () => {
    if (!isChanged) return 200;
    isChanged = false;
    const answer = await post("autosave");
    const page = answer && parse(await answer.text());
    const fresh = page?.getElementById("saved");
    swap(document.getElementById("saved"), fresh);
    if (answer?.ok && fresh?.dataset.page) history.replaceState(null, "", fresh.dataset.page);
    if (answer?.ok) return 200;
    isChanged = true;
    if (!fresh) {
      const why = page?.querySelector("[role=alert]")?.textContent ?? "there is no connection; it is tried again.";
      form.querySelector("#saved [role=status]").textContent = `Not saved: ${why}`;
    }
    if (fresh?.dataset.stopped === undefined) later("save", 10000, save);
    return answer?.status ?? 0;
  }));
  const leave = async (action, submitter) => {
    const status = keeps ? await save() : 200;
    // The page is left only for one that can show what is typed: the login takes 16 KiB along.
    const isTooLong = status === 401 && `${typed(action)}`.length > 16000;
    if (status === 0 || status === 413 || status >= 500 || isTooLong) { form.querySelector("#saved").scrollIntoView({ block: "center" }); return; }
    isLeaving = true;
    if (submitter) form.requestSubmit(submitter);
    else { form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "do", value: action })); form.submit(); }
    isLeaving = false;
  };

  // Times are typed in the zone of the reader; without scripts, in UTC.
  const zone = () => {
    const field = form.elements.zone;
    if (field && !field.value) field.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
    for (const name of find("[data-zone]", form)) name.textContent = field.value || "UTC";
  };
  zone();
  const changed = () => { isChanged = keeps; if (keeps && form.querySelector("#saved:not([data-stopped])")) later("save", 2000, save); };
  form.addEventListener("input", ({ target }) => {
    const choice = (value) => form.querySelector(`[name=when][value=${value}]`);
    // Who fills in a time does not mean now, and who fills in a condition does not mean everybody.
    if (["at", "repeat"].includes(target.name) && target.value && choice("now")?.checked) choice("at").checked = true;
    if (target.closest("#rows")) for (const some of find("[name=who][value=some]", form)) some.checked = true;
    changed();
    // An answer that is under way knows nothing of this.
    newest++;
    later("update", target.tagName === "SELECT" ? 0 : 300, () => update("check"));
  });
  form.addEventListener("submit", (event) => {
    const action = event.submitter?.value ?? "check";
    if (isLeaving || action === "save-as-new") { isChanged = false; return; }
    const isPart = /^(add|remove|place|take|check)/.test(action);
    if (!isPart && !keeps) return;
    event.preventDefault();
    if (isPart) { changed(); update(action); } else leave(action, event.submitter);
  });
  addEventListener("pagehide", () => { if (isChanged) navigator.sendBeacon(form.action, typed("autosave")); });
}

// The page about keys, above the page that is open.
async function help(link) {
  let dialog = document.getElementById("help");
  if (!dialog) {
    const answer = await fetch(link.href, { headers: { "X-Fragment": "content" } }).catch(() => null);
    const content = answer?.ok && !answer.redirected && parse(await answer.text()).getElementById("content");
    if (!content) { location.assign(link.href); return; }
    [dialog, content.id] = [document.createElement("dialog"), "help-content"];
    [dialog.id, dialog.ariaLabel] = ["help", "Keys and help"];
    const close = document.createElement("button");
    close.textContent = "Close";
    close.addEventListener("click", () => dialog.close());
    dialog.append(document.adoptNode(content), close);
    document.body.append(dialog);
  }
  if (!dialog.open) dialog.showModal();
}

// c composes, g and a letter go to a page, / to the search, ? shows the keys.
let waitsForLetter = false;
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
  if (waitsForLetter) {
    waitsForLetter = false;
    document.querySelector(`nav [data-key="${CSS.escape(event.key)}"]`)?.click();
  } else if (event.key === "g") {
    waitsForLetter = true;
    setTimeout(() => { waitsForLetter = false; }, 1500);
  } else if (event.key === "/") {
    const search = document.querySelector("input[type=search]");
    if (search) { event.preventDefault(); search.focus(); search.select(); }
  } else if (event.key === "c") {
    document.querySelector('nav [data-key="c"]')?.click();
  } else if (event.key === "?") {
    const link = document.querySelector("nav [data-help]");
    if (link) help(link);
  }
}

prepare(document);
// What the server sorts by days it sorts by those of the reader.
document.cookie = `aerogram-zone=${Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC"}; Path=/console; SameSite=Lax; Max-Age=31536000`;
document.addEventListener("keydown", onKey);
document.addEventListener("input", (event) => { const form = event.target.closest("form"); if (form) form.dataset.typed = ""; });
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
  for (const menu of find("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
for (const form of find("form[data-build]")) build(form);
document.querySelector("form[data-go]")?.submit();
if (document.body.dataset.stream) follow(document.body.dataset.stream);
