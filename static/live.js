/* Live numbers of a run: not while nobody looks, slower when nobody has touched the page for two minutes. */
"use strict";

(() => {
  const IDLE = 120_000;
  const SLOW = 15_000;
  let touched = Date.now();
  let asked = 0;

  for (const kind of ["pointerdown", "pointermove", "keydown", "scroll"]) {
    addEventListener(kind, () => { touched = Date.now(); }, { passive: true });
  }

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.elt.id !== "live-poll") return;
    const now = Date.now();
    const idle = now - touched > IDLE;
    if (document.hidden || (idle && now - asked < SLOW)) event.preventDefault();
    else asked = now;
  });
})();
