// The hands on the picture: pointer, keyboard, menus, and the outbox of what a person asked for. Python applies
// every edit and acknowledges it; until then it stays in the outbox. After graph_picture.js.

const instances = new WeakMap(); // parent element -> Canvas; the default export runs again on every update

class Canvas extends Picture {
  constructor(parent) {
    super(parent);
    this.listenToPointer();
    this.listenToKeys();
  }

  select(id) {
    this.selected = id;
    this.cursor = id ?? this.cursor;
    this.component.setStateValue("selected", { id, n: ++this.memory.picks });
    if (id) { this.bringIntoView(id); this.said.textContent = `${this.words(this.nodes.get(id))}, selected`; }
    this.show(false);
  }

  send(op) {
    this.memory.outbox.push({ cid: this.memory.cid, seq: ++this.memory.seq, rev: this.rev, ...op });
    this.component.setStateValue("outbox", this.memory.outbox.slice());
    this.root.dataset.waiting = String(this.memory.outbox.length);
  }

  remove(id) {
    const node = this.nodes.get(id);
    if (this.editing && node && node.path.length) this.send({ op: "delete", id, ref: node.ref, path: node.path });
  }

  listenToPointer() {
    const fingers = new Map();
    let pinch = 0;
    this.draw.addEventListener("pointerdown", event => {
      if (event.button) return;
      this.pressed = true; // a press focuses the graph, too, and must not move the view
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      const plus = event.target.closest(".plus"), node = event.target.closest(".node");
      if (fingers.size === 2) pinch = spread(fingers); else if (!plus) this.follow(event, node);
    });
    addEventListener("pointermove", this.onMove = event => {
      if (!fingers.has(event.pointerId)) return;
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      if (fingers.size !== 2) return;
      const now = spread(fingers), box = this.draw.getBoundingClientRect(), points = [...fingers.values()];
      this.zoom(now / (pinch || now), (points[0][0] + points[1][0]) / 2 - box.left, (points[0][1] + points[1][1]) / 2 - box.top);
      pinch = now;
    });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, this[`on${end}`] = event => { fingers.delete(event.pointerId); this.pressed = false; });
    this.draw.addEventListener("click", event => {
      const plus = event.target.closest(".plus");
      if (plus) this.openPlus(this.edges.get(plus.dataset.edge), plus);
    });
    this.draw.addEventListener("dblclick", event => {
      const node = this.nodes.get(event.target.closest(".node")?.dataset.id);
      if (node) this.send({ op: "open", id: node.id, ref: node.ref, path: node.path });
    });
    this.draw.addEventListener("wheel", event => {
      const inside = this.parent.activeElement === this.draw || this.root.getRootNode().activeElement === this.draw;
      if (!event.ctrlKey && !event.metaKey && !inside) return; // the page must stay scrollable past the graph
      event.preventDefault();
      const box = this.draw.getBoundingClientRect(), port = this.memory.viewport;
      if (event.ctrlKey || event.metaKey) return this.zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
      port.x -= event.shiftKey ? event.deltaY : event.deltaX;
      port.y -= event.shiftKey ? 0 : event.deltaY;
      this.later();
    }, { passive: false });
  }

  // From press to release: a click selects, a drag of the paper pans, a drag of a task moves it.
  follow(event, group) {
    const from = [event.clientX, event.clientY], port = this.memory.viewport, origin = [port.x, port.y];
    const node = group && this.nodes.get(group.dataset.id), movable = this.editing && node && node.path.length && node.kind !== "join";
    let dragging = false;
    const move = next => {
      const dx = next.clientX - from[0], dy = next.clientY - from[1];
      if (!dragging && Math.hypot(dx, dy) < 6) return;
      if (!dragging && movable) this.startDrag(node);
      dragging = true;
      this.draw.classList.add("dragging");
      if (movable) return this.drag(next);
      Object.assign(this.memory.viewport, { x: origin[0] + dx, y: origin[1] + dy });
      this.later();
    };
    const up = last => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      removeEventListener("pointercancel", up);
      this.draw.classList.remove("dragging");
      if (dragging && movable) return this.drop(node);
      if (!dragging && last.type === "pointerup") { this.draw.focus({ preventScroll: true }); this.select(node ? node.id : null); }
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
    addEventListener("pointercancel", up);
  }

  startDrag(node) {
    this.ghost = html("div", { class: "ghost" }, titleOf(node));
    this.root.append(this.ghost);
  }

  drag(event) {
    const box = this.root.getBoundingClientRect();
    this.ghost.style.transform = `translate(${event.clientX - box.left + 8}px,${event.clientY - box.top + 8}px)`;
    const far = plus => { const at = plus.getBoundingClientRect(); return Math.hypot(at.x + at.width / 2 - event.clientX, at.y + at.height / 2 - event.clientY); };
    let best = null, least = 40;
    for (const plus of this.layers[4].children) { const away = far(plus); plus.classList.remove("hot"); if (away < least) [best, least] = [plus, away]; }
    best?.classList.add("hot");
    this.target = best && this.edges.get(best.dataset.edge);
  }

  drop(node) {
    this.ghost?.remove();
    for (const plus of this.layers[4].children) plus.classList.remove("hot");
    const target = this.target, inside = target && node.path.every((step, i) => target.place.list[i] === step);
    this.target = this.ghost = null;
    if (target && !inside) this.send({ op: "move", id: node.id, ref: node.ref, path: node.path, place: target.place });
  }

  openPlus(edge, plus) {
    const port = this.memory.viewport, box = this.draw.getBoundingClientRect(), x = box.left + edge.plus[0] * port.k + port.x, y = box.top + edge.plus[1] * port.k + port.y;
    this.openMenu({ left: x - 7, right: x + 7, top: y - 7, bottom: y + 7 }, edge.place, plus || this.draw);
  }

  openMenu(at, place, back) {
    this.closeMenu();
    if (!place) return;
    const box = this.root.getBoundingClientRect(), menu = html("div", { class: "menu", role: "menu", "aria-label": "Task to add" });
    let group = "";
    for (const item of this.data.palette) {
      if (item.group !== group) menu.append(html("h4", {}, (group = item.group)));
      const button = html("button", { type: "button", role: "menuitem", "data-type": item.type }, icon(typeOf(item.type).path), item.label);
      button.addEventListener("click", () => { this.closeMenu(); back.focus?.({ preventScroll: true }); this.send({ op: "insert", type: item.type, place }); });
      menu.append(button);
    }
    this.root.append(menu);
    menu.style.left = `${Math.max(4, Math.min(at.right - box.left + 6, box.width - menu.offsetWidth - 4))}px`;
    menu.style.top = `${Math.max(4, Math.min(at.top - box.top - 8, box.height - menu.offsetHeight - 4))}px`;
    this.menu = menu;
    menu.addEventListener("keydown", event => this.menuKey(event, back));
    this.outside = event => { if (!event.composedPath().includes(menu)) this.closeMenu(); };
    addEventListener("pointerdown", this.outside);
    menu.querySelector("button")?.focus({ preventScroll: true });
  }

  menuKey(event, back) {
    const items = [...this.menu.querySelectorAll("button")], at = items.indexOf(this.root.getRootNode().activeElement);
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    if (event.key === "Escape") { event.stopPropagation(); this.closeMenu(); back.focus?.({ preventScroll: true }); } else if (event.key in steps) {
      event.preventDefault();
      items.at(steps[event.key] % items.length).focus();
    } else if (event.key.length === 1) items.find(item => item.textContent.toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
  }

  closeMenu() {
    this.menu?.remove();
    this.menu = null;
    removeEventListener("pointerdown", this.outside);
  }

  listenToKeys() {
    this.draw.addEventListener("keydown", event => {
      const plus = event.target.closest?.(".plus");
      if (plus && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); this.openPlus(this.edges.get(plus.dataset.edge), plus); return; }
      if (this.key(event)) event.preventDefault();
    });
    this.draw.addEventListener("focus", () => { if (!this.cursor && this.graph && !this.pressed) this.moveTo(this.graph.nodes.find(isTask)); });
  }

  key(event) {
    const command = event.ctrlKey || event.metaKey, letter = event.key.toLowerCase();
    if (command && this.editing && (letter === "z" || letter === "y")) { this.send({ op: letter === "y" || event.shiftKey ? "redo" : "undo" }); return true; }
    if (command || event.altKey) return false;
    const acts = {
      ArrowDown: () => this.moveTo(this.step(this.cursor, "out", "to")), ArrowUp: () => this.moveTo(this.step(this.cursor, "into", "from")),
      ArrowLeft: () => this.moveTo(this.neighbour(-1)), ArrowRight: () => this.moveTo(this.neighbour(1)),
      Home: () => this.moveTo(this.graph.nodes.find(isTask)), End: () => this.moveTo(this.graph.nodes.findLast(isTask)),
      Enter: () => this.cursor && this.select(this.cursor), " ": () => this.cursor && this.select(this.cursor), Escape: () => this.select(null),
      Delete: () => this.remove(this.cursor), Backspace: () => this.remove(this.cursor), f: () => this.fit(),
      "+": () => (this.editing ? this.plusAtCursor() : this.zoom(1.25)), "-": () => this.zoom(0.8), 0: () => this.fit(),
    };
    const act = acts[event.key];
    act?.();
    return Boolean(act);
  }

  moveTo(node) {
    if (!node) return;
    this.cursor = node.id;
    this.bringIntoView(node.id);
    this.refresh();
    this.said.textContent = this.words(node);
  }

  // The next task along the lines; out of a loop when its last task has only the way back.
  step(id, side, end, seen = new Set()) {
    const lines = (this[side]?.get(id) || []).filter(edge => !edge.back && edge.from !== edge.to && !(side === "into" && edge.inner && seen.size));
    if (seen.has(id)) return null;
    seen.add(id);
    for (const edge of lines) {
      if (side === "out" && edge.inner && seen.size > 1) continue;
      const found = this.nodes.get(edge[end]);
      if (isTask(found)) return found;
      const beyond = this.step(found.id, side, end, seen);
      if (beyond) return beyond;
    }
    const parent = this.nodes.get(this.nodes.get(id)?.parent);
    return parent && parent.kind === "loop" && side === "out" ? this.step(parent.id, side, end, seen) : null;
  }

  neighbour(direction) {
    const from = this.nodes.get(this.cursor);
    if (!from) return null;
    const middle = from.x + from.w / 2, beside = this.graph.nodes.filter(node => isTask(node) && node.id !== from.id && node.kind !== "loop" && Math.abs(node.y + node.h / 2 - from.y - from.h / 2) < 60 && (node.x + node.w / 2 - middle) * direction > 20);
    const distance = node => Math.abs(node.x + node.w / 2 - middle) + Math.abs(node.y - from.y) * 2;
    return beside.sort((a, b) => distance(a) - distance(b))[0];
  }

  plusAtCursor() {
    let lines = (this.out.get(this.cursor) || []).filter(edge => edge.plus);
    if (!this.cursor || !lines.length) lines = this.cursor ? lines : this.graph.edges.filter(edge => edge.plus).slice(0, 1);
    const edge = lines.find(line => !line.back) || lines[0];
    if (edge) this.openPlus(edge);
  }

  destroy() {
    this.observer.disconnect();
    removeEventListener("pointermove", this.onMove);
    removeEventListener("pointerup", this.onpointerup);
    removeEventListener("pointercancel", this.onpointercancel);
    this.closeMenu();
    this.root.remove();
  }
}

const spread = fingers => { const [a, b] = [...fingers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };

export default function (component) {
  const parent = component.parentElement;
  let canvas = instances.get(parent);
  if (!canvas) { canvas = new Canvas(parent); instances.set(parent, canvas); }
  canvas.update(component);
  return () => { canvas.destroy(); instances.delete(parent); };
}
