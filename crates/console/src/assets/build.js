// The forms of Compose, segments, automations and templates, which are built step by step. Only their pages load it.

import { find, parse, prepare } from "./app.js";

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

for (const form of find("form[data-build]")) build(form);
