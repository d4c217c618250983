/* Unsaved entries of a form survive a closed dialog and a session that ended, in this browser only; never a password.
   Who signs out leaves none behind. */
"use strict";

(() => {
  const PREFIX = "draft:";
  const LEFT_OUT = new Set(["csrfmiddlewaretoken", "password", "forget_password", "test", "do"]);
  // What the entries were made from: restored with them, a colleague's newer values are met as a conflict.
  const OPENED = new Set(["version", "opened", "excludes_opened"]);

  const keyOf = (form) => `${PREFIX}${document.body.dataset.person || ""}:${new URL(form.action).pathname}`;

  function entriesOf(form) {
    const kept = {};
    for (const field of form.elements) {
      if (!field.name || LEFT_OUT.has(field.name) || field.type === "password") continue;
      if (field.type === "radio") { if (field.checked) kept[field.name] = field.value; }
      else if (field.type === "checkbox") kept[field.name] = field.checked;
      else if (field.tagName !== "BUTTON") kept[field.name] = field.value;
    }
    return kept;
  }

  function read(form) {
    try { return JSON.parse(localStorage.getItem(keyOf(form)) || "null"); } catch { return null; }
  }

  function forget(form) {
    try { localStorage.removeItem(keyOf(form)); } catch { /* a browser that keeps nothing */ }
  }

  function restore(form, entries) {
    for (const field of form.elements) {
      if (!(field.name in entries)) continue;
      if (field.type === "radio") field.checked = field.value === entries[field.name];
      else if (field.type === "checkbox") field.checked = entries[field.name];
      else if (field.tagName !== "BUTTON") field.value = entries[field.name];
    }
    const { url, root, excludes } = form.elements;
    if (!url || !root) return;
    root.dataset.edited = "1";
    url.dataset.before = url.value;
    url.dispatchEvent(new Event("change", { bubbles: true }));
    excludes?.dispatchEvent(new Event("input", { bubbles: true }));
  }

  const ofPerson = () => {
    try { return Object.keys(localStorage).filter((key) => key.startsWith(`${PREFIX}${document.body.dataset.person}:`)); } catch { return []; }
  };

  // On a shared machine the next person must not find them.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-sign-out]")) return;
    const keys = ofPerson();
    const question = "Entries you have not saved are kept in this browser. Sign out and discard them?";
    if (keys.length && !confirm(question)) return event.preventDefault();
    keys.forEach((key) => localStorage.removeItem(key));
  });

  const typed = (entries) => JSON.stringify(Object.entries(entries).filter(([name]) => !OPENED.has(name)));

  function offer(form) {
    const draft = read(form);
    if (!draft || form.querySelector(".problem") || form.querySelector("[data-draft]")) return;
    if (typed(draft.entries) === typed(entriesOf(form))) return forget(form);
    const notice = document.createElement("div");
    notice.className = "notice info";
    notice.dataset.draft = "";
    notice.setAttribute("role", "status");
    const line = document.createElement("p");
    line.textContent = `Unsaved entries from ${draft.at}`;
    notice.append(line, button("Restore", () => restore(form, draft.entries)), button("Discard", () => forget(form)));
    (form.querySelector(".dlg-cols .stack") || form).prepend(notice);

    function button(label, act) {
      const made = document.createElement("button");
      made.type = "button";
      made.className = "btn s";
      made.textContent = label;
      made.addEventListener("click", () => {
        act();
        notice.remove();
        form.querySelector("input:not([type=hidden])")?.focus();
      });
      return made;
    }
  }

  const isConflict = (form) => form?.matches?.("form.conflict-form");
  const isDraftForm = (form) => form?.matches?.("form.point-form");
  const formIn = (root) => root.querySelector?.("form.point-form");

  function keep(form) {
    const at = new Date().toTimeString().slice(0, 5);
    try { localStorage.setItem(keyOf(form), JSON.stringify({ at, entries: entriesOf(form) })); } catch { /* full */ }
  }

  document.addEventListener("input", ({ target }) => {
    if (isDraftForm(target.form) && !LEFT_OUT.has(target.name)) keep(target.form);
  });
  // Saved, or left on purpose for the next one: the server has it now.
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    const form = detail.elt.closest?.("form.point-form, form.conflict-form");
    if (form && detail.xhr.getResponseHeader("HX-Redirect")) forget(form);
  });
  document.addEventListener("submit", ({ target, submitter }) => {
    const ours = isDraftForm(target) || isConflict(target);
    if (ours && !target.hasAttribute("hx-post") && ["save", "again"].includes(submitter?.value)) forget(target);
  });
  document.addEventListener("click", ({ target }) => {
    const form = target.closest?.("[data-forget]")?.closest("form");
    if (form) forget(form);
  }, true);
  document.addEventListener("htmx:afterSwap", ({ detail }) => {
    const form = detail.target?.id === "dialog" && formIn(detail.target);
    if (!form) return;
    // Opened, a form offers what was left unsaved; after a repair or an error it holds that already.
    if (detail.requestConfig?.verb === "get") offer(form);
    else keep(form);
  });
  document.addEventListener("DOMContentLoaded", () => {
    const form = formIn(document);
    if (form) offer(form);
  });

  /* ---- single keys, only for who switched them on in Preferences (body data-single-keys) ---- */
  const PLACES = { d: "/documents/", c: "/crawls/", r: "/reports/" };
  let afterG = 0;

  document.addEventListener("keydown", (event) => {
    if (!("singleKeys" in document.body.dataset) || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]")) return;
    if (document.querySelector("dialog[open]")) return;
    const key = event.key;
    if (Date.now() - afterG < 1500 && PLACES[key]) {
      event.preventDefault();
      location.assign(PLACES[key]);
      return;
    }
    afterG = key === "g" ? Date.now() : 0;
    if (key === "/") go(document.getElementById("find"));
    else if (key === "?") location.assign("/help/#keys");
    else if (key === "u") press("[data-key=undo]");
    else if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
    else if (key === "x") toggle();
    else if (/^[netp]$/.test(key)) press(`[data-single=${key}]`);
    else return;
    event.preventDefault();
  });

  function go(field) { field?.focus(); }
  function press(selector) { document.querySelector(selector)?.click(); }
  function boxes() { return [...document.querySelectorAll("form[data-row-keys] .pick input")]; }
  // Where no row can be chosen, the names of the rows are what j and k walk along.
  function names() { return [...document.querySelectorAll("main tbody th[scope=row]")].flatMap((th) => th.querySelector("a") || []); }
  function step(by) {
    const all = boxes().length ? boxes() : names();
    const here = all.indexOf(document.activeElement);
    all[Math.min(Math.max(here + by, 0), all.length - 1)]?.focus();
  }
  function toggle() {
    if (boxes().includes(document.activeElement)) document.activeElement.click();
  }
})();
