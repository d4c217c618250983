/* The only script of ours. Every page works without it; it makes dialogs, live parts and keyboards smoother. */
"use strict";

(() => {
  const status = () => document.getElementById("status");

  /** Says one thing about the whole page, also to screen readers; stays until the next action. */
  function say(text, kind) {
    const notice = document.createElement("div");
    notice.className = `notice ${kind || "info"}`;
    const line = document.createElement("p");
    line.textContent = text;
    notice.append(line);
    status()?.replaceChildren(notice);
    notice.scrollIntoView({ block: "nearest" });
  }

  /* ---- dialogs: a fragment with <dialog> opens over the page, focus goes in and comes back ---- */
  let opener = null;
  let pressed = null; // what the person pressed, where a script presses the link that opens the dialog

  function openDialog(root) {
    const dialog = root.querySelector?.("dialog");
    if (!dialog || dialog.open) return;
    dialog.showModal();
    const problem = dialog.querySelector(".problem");
    const title = dialog.querySelector("h2")?.textContent || "";
    document.title = `${problem ? "Error: " : ""}${title} - ${document.body.dataset.title}`;
    (problem || dialog.querySelector("input:not([type=hidden]), textarea"))?.focus();
    dialog.addEventListener("close", () => {
      dialog.remove();
      document.title = document.body.dataset.title || document.title;
      // The browser gave the focus back already; only where its place is gone, and nobody went on meanwhile, do we.
      if (document.activeElement === document.body && opener?.isConnected) opener.focus();
    });
  }

  document.addEventListener("click", (event) => {
    const door = event.target.closest("[data-close]");
    const dialog = door?.closest("dialog");
    if (dialog) {
      event.preventDefault();
      dialog.close();
    }
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const menu = event.target.closest?.("details.menu[open]");
      if (menu) {
        menu.open = false;
        menu.querySelector("summary").focus();
      }
      return;
    }
    rowKeys(event);
  });

  /* ---- all rows at once: the box in the head is for those of this page, the one named all for all that match ---- */
  const ALL = "thead .pick input, [name=all]";

  document.addEventListener("change", ({ target }) => {
    const form = target.closest?.("form.picked");
    if (!form) return;
    if (target.matches(ALL)) for (const box of form.querySelectorAll("tbody .pick input")) box.checked = target.checked;
    if (target.matches(`.pick input, ${ALL}`)) tell(form);
  });

  /** How many are selected, and whether that is all of them. */
  function tell(form) {
    const boxes = [...form.querySelectorAll("tbody .pick input")];
    const chosen = boxes.filter((box) => box.checked).length;
    const head = form.querySelector("thead .pick input");
    const all = form.elements.namedItem("all");
    const words = form.querySelector(".sel");
    if (!head || !words) return;
    head.checked = chosen === boxes.length;
    head.indeterminate = chosen > 0 && !head.checked;
    if (all && !head.checked) all.checked = false;
    words.textContent = `${all?.checked ? words.dataset.all : chosen.toLocaleString("en")} selected`;
  }
  addEventListener("pageshow", () => document.querySelectorAll("form.picked").forEach(tell));

  /* ---- desktop muscle memory: on a row's box, Delete deletes, F2 and Enter update ---- */
  function rowKeys(event) {
    const box = event.target;
    const form = box.closest?.("form[data-row-keys]");
    if (!form) return;
    if (event.key === "Enter" && box.matches(ALL)) event.preventDefault();
    if (!box.closest("tbody .pick")) return;
    const command = { Delete: "delete", F2: "update", Enter: "update" }[event.key];
    if (!command) return;
    event.preventDefault(); // Enter would press the first button of the form, whatever that does
    const button = form.querySelector(`[data-key=${command}]`);
    pressed = box;
    if (button) {
      box.checked = true;
      button.click();
    } else if (command === "update") box.closest("tr").querySelector("th a")?.click();
    pressed = null;
  }

  /* ---- a command pressed before a row is chosen explains itself; Update opens the row's dialog ---- */
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[data-needs]");
    if (!button) return;
    const chosen = button.form.querySelectorAll("tbody .pick :checked");
    if (!chosen.length) {
      event.preventDefault();
      event.stopImmediatePropagation();
      say(button.dataset.needs, "info");
      button.form.querySelector("tbody .pick input")?.focus();
    } else if ("opens" in button.dataset && chosen.length === 1) {
      const link = chosen[0].closest("tr").querySelector("a[hx-get]");
      if (link && window.htmx) {
        event.preventDefault();
        pressed ||= button;
        link.click();
        pressed = null;
      }
    }
  }, true);

  /* ---- a row opened by double-click, as on the desktop ---- */
  document.addEventListener("dblclick", (event) => {
    if (event.target.closest("a, button, input, label")) return;
    event.target.closest("form[data-row-keys] tbody tr")?.querySelector("th a")?.click();
  });

  /* ---- the root string follows the URL until somebody edits it ---- */
  document.addEventListener("change", (event) => {
    const field = event.target;
    const form = field.form;
    if (field.name === "root" && event.isTrusted) field.dataset.edited = "1";
    if (!["url", "root"].includes(field.name) || !form?.elements.root) return;
    const root = form.elements.root;
    if (field === root) { // an empty one is never meant
      if (!root.value.trim()) root.value = folderOf(form.elements.url.value);
      return;
    }
    const url = field.value.trim();
    const before = folderOf(field.dataset.before ?? field.defaultValue);
    field.dataset.before = url;
    const follows = root.value === before || (!root.dataset.edited && !root.value);
    if (!follows || !folderOf(url)) return;
    root.value = folderOf(url);
    root.dispatchEvent(new Event("change", { bubbles: true }));
  });

  /** The address up to its last slash; nothing for what is no address yet. */
  function folderOf(text) {
    const plain = text.trim().split(/[?#]/)[0];
    if (!/^https?:\/\/[^/]/i.test(plain)) return "";
    return plain.indexOf("/", 8) < 0 ? `${plain}/` : plain.slice(0, plain.lastIndexOf("/") + 1);
  }

  /* ---- exclude URLs are counted while they are typed ---- */
  document.addEventListener("input", ({ target }) => {
    const count = target.id === "id_excludes" && document.getElementById("excludes-count");
    if (!count) return;
    const lines = target.value.split("\n").filter((line) => line.trim()).length;
    count.textContent = lines === 1 ? "1 line" : `${lines} lines`;
  });

  /* ---- an answer to copy: opened, it is chosen and in the clipboard ---- */
  document.addEventListener("toggle", ({ target }) => {
    if (!target.matches?.("details[data-copy][open]")) return;
    const text = target.querySelector("textarea");
    text.select();
    navigator.clipboard?.writeText(text.value).then(() => {
      target.querySelector("summary span").textContent = "Copied this answer";
    }, () => {});
  }, true);

  /* ---- htmx: what it must not do by itself ---- */
  document.addEventListener("htmx:beforeRequest", (event) => {
    const door = event.detail.elt;
    if (event.detail.target?.id === "dialog" && !door.closest("#dialog")) opener = pressed || door;
  });
  // A part of the form that is fetched anew brings the title of a whole page with it; the dialog keeps its own.
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target?.closest("dialog, .as-dialog")) event.detail.ignoreTitle = true;
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    const target = event.detail.target;
    if (target?.id === "dialog") {
      document.body.dataset.title ||= document.title;
      openDialog(target);
    }
  });
  document.addEventListener("htmx:responseError", (event) => {
    const code = event.detail.xhr.status;
    if (code === 401 || code === 403) say("You were signed out or may not do this. Reload the page.", "bad");
    else if (code === 507) say("The disk of the server is full: nothing was saved. What you typed is still here.", "bad");
    else say(`The server answered with an error (${code}). Nothing was changed on this page.`, "bad");
  });
  // A page that is left breaks off its requests; htmx would report that as an error.
  const underWay = new Set();
  document.addEventListener("htmx:beforeSend", ({ detail: { xhr, elt, target } }) => {
    underWay.add(xhr);
    xhr.addEventListener("loadend", () => underWay.delete(xhr));
    if (!elt.matches("[hx-trigger^=every]")) tellWhenLate(xhr, target);
  });

  /** A part that takes long says that it is being fetched; numbers that move by themselves do not. */
  function tellWhenLate(xhr, target) {
    const late = setTimeout(() => target.setAttribute("aria-busy", "true"), 400);
    xhr.addEventListener("loadend", () => {
      clearTimeout(late);
      target.removeAttribute("aria-busy");
    });
  }
  addEventListener("beforeunload", () => {
    for (const xhr of underWay) xhr.onabort = xhr.onerror = null;
  });
  document.addEventListener("htmx:sendError", () => say("The server does not answer. Check the connection.", "bad"));
})();
