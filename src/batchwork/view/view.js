// What is live: when the journal has grown, the page is asked for again and its parts marked data-live are exchanged.
"use strict";
(() => {
  const APART_MS = 1000;
  let due = 0, asking = false, last = 0;

  const exchange = async () => {
    if (asking) { due = due || setTimeout(wake, APART_MS); return; }
    asking = true;
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const at = document.activeElement && document.activeElement.getAttribute("href");
      document.querySelectorAll("[data-live]").forEach((old) => {
        const part = page.querySelector(`[data-live="${old.dataset.live}"]`);
        if (!part || part.outerHTML === old.outerHTML) return;
        const open = [...old.querySelectorAll("details")].map((one) => one.open);
        const held = old.contains(document.activeElement);
        part.querySelectorAll("details").forEach((one, n) => { if (open[n]) one.open = true; });
        old.replaceWith(part);
        if (held && at) { const same = part.querySelector(`a[href="${CSS.escape(at)}"]`); if (same) same.focus(); }
      });
      document.documentElement.dataset.refreshed = String(Number(document.documentElement.dataset.refreshed || 0) + 1);
    } catch { /* the connection for events tells when the viewer is gone */ } finally { asking = false; last = Date.now(); }
  };
  const wake = () => { due = 0; exchange(); };
  const soon = () => { if (!due) due = setTimeout(wake, Math.max(0, last + APART_MS - Date.now())); };

  const where = document.body.dataset.events;
  if (where && window.EventSource) {
    const events = new EventSource(where), lost = document.getElementById("lost");
    let version = document.body.dataset.version;
    events.onopen = () => { if (lost) lost.hidden = true; };
    events.onmessage = (event) => { if (event.data !== version) { version = event.data; soon(); } };
    events.onerror = () => { if (lost) lost.hidden = false; };
  }

  // A cited place and its field: whichever of the two is gone to, both are shown as chosen, and side by side both are in sight.
  const choose = () => {
    const number = (/^#(?:mark|cite)-(\d+)$/.exec(location.hash) || [])[1];
    document.querySelectorAll(".chosen").forEach((one) => one.classList.remove("chosen"));
    ["mark", "cite"].map((name) => document.getElementById(`${name}-${number}`)).filter(Boolean).forEach((one) => {
      one.classList.add("chosen");
      if (`#${one.id}` !== location.hash && innerWidth > 900) one.scrollIntoView({ block: "nearest" });
    });
  };
  addEventListener("hashchange", choose);
  choose();

  const go = (selector) => { const link = document.querySelector(selector); if (link) link.click(); return Boolean(link); };
  const step = (by) => {
    const rows = [...document.querySelectorAll("[data-row]")];
    if (!rows.length) return go(by > 0 ? "a[rel=next]" : "a[rel=prev]");
    const at = rows.indexOf(document.activeElement);
    rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by))].focus();
    return true;
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const words = document.getElementById("words");
    const does = {
      "/": () => (words ? (words.focus(), words.select(), true) : go('.bar a[href$="/items"]')),
      j: () => step(1), k: () => step(-1),
      r: () => go(".bar nav a:first-child"), i: () => go(".bar nav a:nth-child(2)"),
    }[event.key];
    if (does && does()) event.preventDefault();
  });
})();
