/* The public search: words offered while somebody types, and a note when a result is opened. Nothing depends on it. */
"use strict";

(() => {
  const box = document.getElementById("q");
  const list = document.getElementById("q-words");
  const known = new Map();
  let timer = 0;

  /** Fills the list of the box with what the server offers; an answer that comes late is not shown. */
  async function offer() {
    const text = box.value.trimStart();
    if (text.length < 2 || text.length > 100) return list.replaceChildren();
    if (!known.has(text)) {
      const answer = await fetch(`${list.dataset.from}?q=${encodeURIComponent(text)}`).catch(() => null);
      if (!answer?.ok) return;
      known.set(text, (await answer.json())[1]);
    }
    if (box.value.trimStart() !== text) return;
    list.replaceChildren(...known.get(text).map((word) => {
      const option = document.createElement("option");
      option.value = word;
      return option;
    }));
  }

  if (box && list) {
    box.addEventListener("input", (event) => {
      clearTimeout(timer);
      if (event.inputType !== "insertReplacementText") timer = setTimeout(offer, 150);
    });
  }

  /** Title, cached copy or record: with the first or the middle button, or a key. */
  function tell({ target, button, currentTarget }) {
    if (button > 1 || !target.closest(".result h2 a, .result .copy")) return;
    const address = `${currentTarget.dataset.opened}?q=${encodeURIComponent(currentTarget.dataset.q)}`;
    fetch(address, { keepalive: true }).catch(() => null); // it goes on when the page is left
  }

  for (const results of document.querySelectorAll("[data-opened]")) {
    results.addEventListener("click", tell);
    results.addEventListener("auxclick", tell);
  }
})();
