// A table whose rows can be ticked. The table is text made and escaped in Python; what is ticked is
// reported as ids, never as places, so that rows may move between two looks.

const instances = new WeakMap();

function ticked(root) {
  const boxes = [...root.querySelectorAll("input[data-id]")];
  return boxes.filter((box) => box.checked).map((box) => box.dataset.id);
}

function paint(root) {
  const boxes = [...root.querySelectorAll("input[data-id]")];
  for (const box of boxes) box.closest("tr").classList.toggle("rp-on", box.checked);
  const all = root.querySelector("input[data-all]");
  if (!all) return;
  const count = boxes.filter((box) => box.checked).length;
  all.checked = boxes.length > 0 && count === boxes.length;
  all.indeterminate = count > 0 && count < boxes.length;
}

function move(root, event) {
  if (event.target.tagName !== "INPUT") return;
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (event.key === "Enter") event.target.closest("tr").querySelector("a")?.click();
  if (!step) return;
  const boxes = [...root.querySelectorAll("input[type=checkbox]")];
  boxes[boxes.indexOf(event.target) + step]?.focus();
  event.preventDefault();
}

export default function ({ parentElement, data, setStateValue }) {
  let mine = instances.get(parentElement);
  if (!mine) {
    const root = document.createElement("div");
    root.className = "rp";
    parentElement.appendChild(root);
    mine = { root, html: "", cleared: data.cleared };
    instances.set(parentElement, mine);
    root.addEventListener("keydown", (event) => move(root, event));
    root.addEventListener("change", (event) => {
      if (event.target.matches("input[data-all]"))
        for (const box of root.querySelectorAll("input[data-id]")) box.checked = event.target.checked;
      paint(root);
      mine.report(ticked(root));
    });
  }
  mine.report = (ids) => setStateValue("chosen", ids);
  const before = new Set(data.cleared === mine.cleared ? ticked(mine.root) : []);
  for (const id of data.chosen) if (!mine.html) before.add(id);
  mine.cleared = data.cleared;
  if (mine.html !== data.html) {
    mine.root.innerHTML = data.html;
    mine.html = data.html;
  }
  for (const box of mine.root.querySelectorAll("input[data-id]")) box.checked = before.has(box.dataset.id);
  paint(mine.root);
}
