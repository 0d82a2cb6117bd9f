// What pages do without being asked for anew: times in the reader's zone, parts that follow what happens, keys, copying.

const policy = window.trustedTypes?.createPolicy("aerogram", { createHTML: (html) => html });
export const parse = (html) => new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");
export const find = (selector, root = document) => [...root.querySelectorAll(selector)];

function showTimes(root) {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  for (const time of find("time[datetime]", root)) time.textContent = format.format(new Date(time.dateTime));
  for (const option of find("option[data-at]", root)) option.textContent = `${option.dataset.words} · ${format.format(new Date(option.dataset.at))}`;
}

// What pages have for people with scripts: their times, and buttons that copy, where the browser lets us.
export const prepare = (root) => {
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
        // A form is the same as long as it is shown: what it makes, it makes once.
        const once = content.querySelector("[data-once]")?.value || crypto.randomUUID?.() || "";
        for (const field of find("[data-once]", fresh)) field.setAttribute("value", once);
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
// On a small screen the pages are one long line.
document.querySelector(".side [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
// What the server sorts by days it sorts by those of the reader.
document.cookie = `aerogram-zone=${Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC"}; Path=/console; SameSite=Lax; Max-Age=31536000`;
document.addEventListener("keydown", onKey);
document.addEventListener("input", (event) => { const form = event.target.closest("form"); if (form) form.dataset.typed = ""; });
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
  for (const menu of find("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.querySelector("form[data-go]")?.submit();
if (document.body.dataset.stream) follow(document.body.dataset.stream);
