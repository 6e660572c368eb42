
"use strict";
// Search, order and scale. The page says everything without this; verdicts are filtered by the style alone.
(() => {
  const by = id => document.getElementById(id);
  const list = by("rows"), tools = by("tools");
  if (!tools) return;
  const rows = Array.from(list.children, (item, index) => ({
    item, index,
    name: item.querySelector(".name").textContent.toLowerCase(),
    change: parseFloat(item.style.getPropertyValue("--x")),
    width: parseFloat(item.dataset.width),
  }));
  const number = new Intl.NumberFormat("en");
  const tell = () => {
    const off = new Set(Array.from(document.querySelectorAll(".chip input:not(:checked)"), box => box.value));
    const shown = rows.filter(row => !row.item.hidden).filter(row => !off.has(row.item.className.split(" ")[0])).length;
    by("shown").textContent = `${number.format(shown)} of ${number.format(rows.length)} shown`;
  };
  by("search").addEventListener("input", event => {
    const words = event.target.value.toLowerCase().split(/\s+/);
    for (const row of rows) row.item.hidden = !words.every(word => row.name.includes(word));
    tell();
  });
  // What has no number comes last.
  const falling = key => (a, b) => (Number.isNaN(a[key]) ? 1 : 0) - (Number.isNaN(b[key]) ? 1 : 0) || b[key] - a[key] || a.index - b.index;
  const orders = {
    verdict: (a, b) => a.index - b.index,
    worse: falling("change"),
    better: (a, b) => (Number.isNaN(a.change) ? 1 : 0) - (Number.isNaN(b.change) ? 1 : 0) || a.change - b.change || a.index - b.index,
    noise: falling("width"),
    name: (a, b) => a.name.localeCompare(b.name, "en", { numeric: true }) || a.index - b.index,
  };
  by("order").addEventListener("change", event => {
    list.append(...rows.toSorted(orders[event.target.value]).map(row => row.item));
  });
  const reach = parseFloat(list.dataset.reach);
  by("reach")?.addEventListener("change", event => {
    const wanted = parseFloat(event.target.value);
    list.style.setProperty("--zoom", reach / wanted);
    for (const tick of document.querySelectorAll(".tick")) {
      tick.textContent = `${parseFloat((100 * wanted * Math.abs(tick.dataset.at)).toPrecision(3))} %`;
    }
  });
  for (const box of document.querySelectorAll(".chip input")) box.addEventListener("change", tell);
  by("search").form.addEventListener("submit", event => event.preventDefault());
  // Whoever comes by a link to a row wants to see what is behind it.
  const unfold = () => {
    const details = rows.find(row => row.item.id === location.hash.slice(1))?.item.querySelector("details");
    if (details) details.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
  tools.hidden = false;
  tell();
})();
