/* Live numbers of a run, of a propagation: not while nobody looks, slower when nobody has touched the page for two minutes or the server
   has trouble. What changed is put into the elements that are there, so focus, selection and open menus stay. */
"use strict";

(() => {
  const IDLE = 120_000;
  const SLOW = 15_000;
  const TROUBLE = 30_000;
  const POLLS = new Set(["live-poll", "log-poll"]);
  let touched = Date.now();
  let asked = 0;
  let trouble = false;

  // Of events about an answer, `elt` is what it is put into; who asked stands in the request.
  const isPoll = ({ detail }) => POLLS.has((detail.requestConfig?.elt ?? detail.elt)?.id);

  for (const kind of ["pointerdown", "pointermove", "keydown", "scroll"]) {
    addEventListener(kind, () => { touched = Date.now(); }, { passive: true });
  }

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!isPoll(event)) return;
    const now = Date.now();
    const pause = trouble ? TROUBLE : now - touched > IDLE ? SLOW : 0;
    if (document.hidden || now - asked < pause) event.preventDefault();
    else asked = now;
  });

  /* ---- trouble is said beside the numbers, once, and taken back ---- */
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!isPoll(event) || !trouble || event.detail.isError) return;
    trouble = false;
    document.getElementById("live-trouble")?.remove();
  });

  function failed(event) {
    if (!isPoll(event)) return;
    event.stopImmediatePropagation();
    if (trouble) return;
    trouble = true;
    const place = document.getElementById("live-say") || document.getElementById("status");
    const box = document.createElement("div");
    box.className = "notice warn";
    box.id = "live-trouble";
    const line = document.createElement("p");
    line.textContent = "Updates paused, retrying";
    box.append(line);
    place.append(box);
  }

  for (const kind of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(kind, failed, true);
  }

  /* ---- morph: the same element stays, only what differs is changed ---- */
  function morph(old, fresh) {
    if (old.isEqualNode(fresh)) return;
    const keeps = old.nodeName === "DETAILS" ? "open" : "";  // an open menu stays open
    for (const { name } of [...old.attributes]) {
      if (name !== keeps && !fresh.hasAttribute(name)) old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const before = [...old.childNodes];
    const after = [...fresh.childNodes];
    after.forEach((child, place) => {
      const present = before[place];
      if (!present) old.append(child);
      else if (present.nodeType !== child.nodeType || present.nodeName !== child.nodeName) present.replaceWith(child);
      else if (child.nodeType !== Node.ELEMENT_NODE) {
        if (present.nodeValue !== child.nodeValue) present.nodeValue = child.nodeValue;
      } else if (present.id !== child.id) present.replaceWith(child);
      else if (POLLS.has(child.id)) {
        present.replaceWith(child);  // its address is what htmx has to learn
        window.htmx.process(child);
      }
      else morph(present, child);
    });
    before.slice(after.length).forEach((child) => child.remove());
  }

  // An answer that is a whole block, and what it brings for other places.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, xhr, shouldSwap } = event.detail;
    if (!isPoll(event) || !shouldSwap || !target.id || POLLS.has(target.id) || target.id === "log-rows") return;
    const answer = new DOMParser().parseFromString(xhr.responseText, "text/html");
    const block = answer.getElementById(target.id);
    if (!block) return;
    event.detail.shouldSwap = false;
    for (const fresh of [block, ...answer.querySelectorAll("[hx-swap-oob]")]) {
      fresh.removeAttribute("hx-swap-oob");
      const old = document.getElementById(fresh.id);
      if (old) morph(old, fresh);
    }
  });

  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const { target, fragment } = event.detail;
    const fresh = fragment?.firstElementChild || fragment;
    // The poll itself must be made anew: its address is what htmx has to learn.
    if (!(fresh instanceof Element) || POLLS.has(target.id) || target.id !== fresh.id) return;
    event.detail.shouldSwap = false;
    fresh.removeAttribute("hx-swap-oob");
    morph(target, fresh);
  });
})();
