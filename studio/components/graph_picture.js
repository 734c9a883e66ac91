// The picture on the screen: takes what Python sends, draws what is in view, as a graph or as a table, and
// keeps the viewport. Python works out every position; nothing is routed here. After graph_shapes.js.

const NARROW = 520;
const memories = new Map(); // view -> what must survive a remount: viewport, selection, unsent ops and their numbering
// What Python leaves out of a node.
const EMPTY_NODE = { type: "", ref: "", name: "", x: 0, y: 0, w: 0, h: 0, path: [], parent: "", detail: "", room: 0, children: [] };
let mounts = 0;

const STATUS_ORDER = ["COMPLETED", "COMPLETED_WITH_ERRORS", "RUNNING", "IN_PROGRESS", "SCHEDULED", "PAUSED", "FAILED",
  "FAILED_WITH_TERMINAL_ERROR", "TIMED_OUT", "CANCELED", "TERMINATED", "SKIPPED"];
const LINE_STRENGTH = { not: 0, untested: 0, removed: 0, pending: 1 };

class Picture {
  constructor(parent) {
    this.parent = parent;
    this.nodes = new Map();
    this.edges = new Map();
    this.drawn = new Map();
    this.state = { kind: "", nodes: {}, edges: {}, counts: {}, unplaced: [], problems: {}, notes: {} };
    this.build();
    this.root.dataset.mount = String(++mounts);
  }

  build() {
    this.summary = html("div", { class: "summary" });
    this.find = html("input", { class: "find wide", type: "search", placeholder: "Find a task", "aria-label": "Find a task by reference name" });
    this.zoomWord = html("span", { class: "zoom wide" }, "100 %");
    const button = (name, content, act, kind = "wide") => {
      const made = html("button", { type: "button", title: name, "aria-label": name, class: kind }, content);
      made.addEventListener("click", act);
      return made;
    };
    this.nextButton = button("Next failed", "Next failed", () => this.goToNext(), "");
    this.tableButton = button("Show as a table", "Table", () => { this.asTable = !this.asTable; this.show(); });
    this.tools = html("div", { class: "tools", role: "toolbar", "aria-label": "Graph" }, this.summary,
      html("span", { class: "end" }, this.nextButton, this.find, button("Zoom out", icon(UI.minus), () => this.zoom(0.8)), this.zoomWord,
        button("Zoom in", icon(UI.plus), () => this.zoom(1.25)), button("Fit", icon(UI.fit), () => this.fit()), this.tableButton));
    this.layers = ["frames", "edges", "plain", "labels", "pluses"].map(name => svg("g", { class: name }));
    this.ring = svg("rect", { class: "ring", rx: 9 });
    this.world = svg("g", {}, this.layers, this.ring);
    this.draw = svg("svg", { class: "draw", tabindex: "0", role: "application", "aria-roledescription": "workflow graph" }, this.world);
    this.stage = html("div", { class: "stage" }, this.draw);
    this.twin = html("div", { class: "twin" });
    this.said = html("div", { class: "said", role: "status", "aria-live": "polite" });
    this.root = html("section", { class: "canvas" }, this.tools, this.stage, this.twin, this.said);
    this.parent.append(this.root);
    this.find.addEventListener("keydown", event => { if (event.key === "Enter") this.findNext(this.find.value); });
    this.observer = new ResizeObserver(() => this.resized());
    this.observer.observe(this.root);
  }

  // --- what Python says -----------------------------------------------------------------------

  update(component) {
    const data = component.data;
    this.component = component;
    if (this.view !== data.view) this.openView(data.view);
    this.data = data;
    this.editing = data.mode === "edit";
    this.acknowledge(data.ack || {});
    this.sendAgain();
    this.root.dataset.theme = isDark(this.root) ? "dark" : "light";
    this.stage.style.height = this.twin.style.maxHeight = `${data.height}px`;
    this.draw.setAttribute("aria-label", data.label);
    const graphChanged = this.rev !== data.rev, stateChanged = this.stateText !== data.state;
    if (stateChanged) { this.state = JSON.parse(data.state); this.stateText = data.state; }
    if (graphChanged) this.takeGraph(JSON.parse(data.graph), data.rev);
    this.takeSelection(data);
    if (graphChanged || stateChanged) this.drawSummary();
    this.fitIfAsked(data.fit);
    this.show(graphChanged || stateChanged);
    Object.assign(this.root.dataset, { rev: data.rev, nodes: this.nodes.size, mode: data.mode, waiting: this.memory.outbox.length });
  }

  openView(view) {
    this.view = view;
    this.memory = memories.get(view);
    if (!this.memory) memories.set(view, (this.memory = { cid: Math.random().toString(36).slice(2, 12), seq: 0, outbox: [], picks: 0, viewport: null, fit: undefined, selected: null, asked: null, asTable: false }));
    this.rev = this.stateText = undefined;
    this.fresh = true;
    this.cursor = null;
  }

  // The selection and the choice of the table outlive a remount, too.
  get selected() { return this.memory.selected; }
  set selected(id) { this.memory.selected = id; }
  get asTable() { return this.memory.asTable; }
  set asTable(on) { this.memory.asTable = on; }

  acknowledge(ack) {
    const done = ack[this.memory.cid] || 0;
    this.memory.outbox = this.memory.outbox.filter(op => op.seq > done);
  }

  // What was asked for just before a remount may not have reached Python.
  sendAgain() {
    if (this.fresh && this.memory.outbox.length) this.component.setStateValue("outbox", this.memory.outbox.slice());
    this.fresh = false;
  }

  takeGraph(graph, rev) {
    const anchor = this.graph && this.anchor();
    this.graph = graph;
    this.rev = rev;
    graph.nodes = graph.nodes.map((node, index) => ({ ...EMPTY_NODE, ...node, index }));
    graph.edges = graph.edges.map(edge => ({ ...edge, box: boxOf(edge.points) }));
    this.nodes = new Map(graph.nodes.map(node => [node.id, node]));
    this.edges = new Map(graph.edges.map(edge => [edge.id, edge]));
    this.out = groupBy(graph.edges, "from");
    this.into = groupBy(graph.edges, "to");
    if (!this.nodes.has(this.cursor)) this.cursor = null;
    if (anchor && this.nodes.has(anchor.id)) { // what a person looks at stays where it is
      const node = this.nodes.get(anchor.id), port = this.memory.viewport;
      port.x += (anchor.x - node.x) * port.k;
      port.y += (anchor.y - node.y) * port.k;
    }
  }

  anchor() {
    if (!this.memory.viewport) return null;
    const chosen = this.nodes.get(this.selected) || this.nodes.get(this.cursor);
    if (chosen) return chosen;
    const port = this.memory.viewport, top = -port.y / port.k;
    return this.graph.nodes.find(node => node.y >= top && node.kind === "task") || null;
  }

  takeSelection(data) {
    const heard = data.seen >= this.memory.picks; // Python has seen every click of this canvas
    if (!heard) return;
    const chosen = data.selected;
    if (chosen === null || chosen === this.memory.asked) return; // said before: what the person chose since holds
    this.memory.asked = chosen;
    if (chosen === this.selected) return;
    this.selected = this.nodes.has(chosen) ? chosen : null;
    this.cursor = this.selected;
    if (this.selected) this.bringIntoView(this.selected);
  }

  fitIfAsked(fit) {
    const asked = this.memory.fit !== undefined && fit !== this.memory.fit;
    this.memory.fit = fit;
    if (asked) this.fit();
  }

  // --- table or picture -----------------------------------------------------------------------

  resized() {
    const width = this.root.clientWidth;
    if (!width || !this.graph) return;
    const narrow = width < NARROW;
    this.root.classList.toggle("narrow", narrow);
    if (narrow !== this.narrow) { this.narrow = narrow; this.show(true); } else if (!this.twinShown) this.refresh();
  }

  show(changed = false) {
    this.twinShown = this.asTable || this.root.clientWidth < NARROW;
    this.root.classList.toggle("narrow", this.root.clientWidth < NARROW);
    this.stage.hidden = this.twinShown;
    this.twin.hidden = !this.twinShown;
    this.tableButton.firstChild.textContent = this.asTable ? "Graph" : "Table";
    this.tableButton.setAttribute("aria-label", this.asTable ? "Show as a graph" : "Show as a table");
    if (this.twinShown) { if (changed || !this.twin.firstChild || this.twinSelected !== this.selected) this.drawTwin(); } else {
      this.twin.replaceChildren();
      this.refresh();
    }
  }

  stateOf(node) {
    return this.state.nodes[node.id] || {};
  }

  noteOf(node) {
    const note = this.stateOf(node).note, bar = node.kind === "fork" || node.kind === "join";
    return note ?? (bar ? typeOf(node.type).word.toLowerCase() : typeOf(node.type).word);
  }

  statusWord(state) {
    if (state.change) return MARKS.changes[state.change].word;
    if (state.status) return this.state.kind === "coverage" ? "Tested" : markOf(state.status).word;
    return state.away ? state.away[0].toUpperCase() + state.away.slice(1) : "";
  }

  words(node) {
    const state = this.stateOf(node), problems = (this.state.problems[node.id] || []).map(([, text]) => text);
    const status = this.statusWord(state);
    return [titleOf(node), this.noteOf(node), status, state.badge, state.reason, ...problems].filter(Boolean).join(", ");
  }

  drawTwin() {
    const head = this.narrow ? null : html("thead", {}, html("tr", {}, ["Task", "Status", "What"].map(text => html("th", { scope: "col" }, text)), this.editing ? html("th", { scope: "col" }, "Add") : null));
    const shown = this.graph.outline.filter(([id]) => id || this.editing);
    const rows = shown.map(([id, text, depth, place]) => (id ? this.taskRow(id, text, depth, place) : this.branchRow(text, depth, place)));
    const body = rows.length ? rows : [html("tr", {}, html("td", { class: "empty" }, "There is no task yet."))];
    if (this.editing && !rows.length) body.push(html("tr", {}, html("td", { class: "act" }, this.addButton("Add the first task", this.graph.edges[0]?.place))));
    const scroll = this.twin.scrollTop;
    this.twin.replaceChildren(html("table", {}, html("caption", {}, `${this.data.label}, as a table`), head, html("tbody", {}, body)));
    this.twin.scrollTop = scroll;
    if (this.twinSelected !== this.selected) this.twin.querySelector("tr.on")?.scrollIntoView({ block: "nearest" });
    this.twinSelected = this.selected;
  }

  taskRow(id, text, depth, place) {
    const node = this.nodes.get(id), state = this.stateOf(node), on = id === this.selected;
    const change = state.change && MARKS.changes[state.change], problem = this.worstProblem(id);
    const shown = change ? html("span", { class: "status", style: colour(change.tone) }, glyph(change.shape))
      : problem ? statusMark(problem, "") : state.status ? statusMark(state.status, "") : html("span", { class: "dot" }, "•");
    const name = html("button", { type: "button", class: "name", "aria-pressed": String(on), "data-id": id, title: this.words(node) }, text);
    name.addEventListener("click", () => this.select(id));
    const word = this.statusWord(state);
    const detail = [state.badge, this.noteOf(node)].filter(Boolean).join(" · ");
    const cells = this.narrow ? [html("td", { class: "words" }, detail)] : [html("td", { class: "words" }, word), html("td", { class: "words" }, detail)];
    if (this.editing) cells.push(html("td", { class: "act" }, this.addButton(`Add a task after ${text}`, place)));
    const line = html("div", { class: "line", style: `padding-left:${depth * 16}px` }, shown, name);
    return html("tr", { class: [on && "on", state.away && "off", state.change === "removed" && "gone"].filter(Boolean).join(" ") }, html("th", { scope: "row" }, line), cells);
  }

  branchRow(text, depth, place) {
    const line = html("div", { class: "line branch", style: `padding-left:${depth * 16}px` }, text);
    const row = html("tr", {}, html("td", { colspan: this.narrow ? 2 : 3 }, line));
    if (this.editing) row.append(html("td", { class: "act" }, this.addButton(`Add a task at the start of ${text}`, place)));
    return row;
  }

  addButton(name, place) {
    const button = html("button", { type: "button", "aria-label": name, title: name, class: "add" }, icon(UI.plus));
    button.addEventListener("click", () => this.openMenu(button.getBoundingClientRect(), place, button));
    return button;
  }

  // --- the summary above ----------------------------------------------------------------------

  drawSummary() {
    const { kind, counts, unplaced } = this.state, parts = [];
    if (kind === "execution") {
      const known = Object.keys(counts).filter(status => status).sort((a, b) => STATUS_ORDER.indexOf(a) - STATUS_ORDER.indexOf(b));
      for (const status of known) parts.push(html("span", { class: "count", title: markOf(status).word }, statusMark(status, grouped(counts[status])), html("span", { class: "said" }, markOf(status).word)));
      if (counts[""]) parts.push(html("span", { class: "quiet" }, `${grouped(counts[""])} not reached`));
      if (unplaced.length) parts.push(html("span", { class: "quiet", title: unplaced.join(", ") }, `${unplaced.length} not in this definition`));
    } else if (kind === "coverage") {
      for (const [line, tone, word] of [["tested", "completed", "Tested"], ["untested", "errors", "Never tested"]]) parts.push(html("span", { class: "status", style: colour(tone) }, `${word} ${counts[line] || 0}`));
    } else if (kind === "changes") {
      for (const [change, mark] of Object.entries(MARKS.changes)) parts.push(html("span", { class: "status", style: colour(mark.tone) }, glyph(mark.shape), `${counts[change] || 0} ${change}`));
    }
    const levels = Object.values(this.state.problems).flat().map(([level]) => level);
    for (const [level, status] of [["error", "FAILED"], ["warning", "COMPLETED_WITH_ERRORS"]]) {
      const count = levels.filter(each => each === level).length;
      if (count) parts.push(statusMark(status, `${count} ${level}${count === 1 ? "" : "s"}`));
    }
    if (!parts.length) { const tasks = this.graph.outline.filter(([id]) => id).length; parts.push(html("span", { class: "quiet" }, tasks === 1 ? "1 task" : `${grouped(tasks)} tasks`)); }
    this.summary.replaceChildren(...parts);
    const next = this.marked();
    this.nextButton.hidden = !next.length;
    this.nextButton.firstChild.textContent = { changes: "Next change", coverage: "Next untested", execution: "Next failed" }[kind] || "Next problem";
    this.nextButton.setAttribute("aria-label", this.nextButton.firstChild.textContent);
    this.nextButton.title = this.nextButton.firstChild.textContent;
  }

  worstProblem(id) {
    const levels = (this.state.problems[id] || []).map(([level]) => level);
    return levels.includes("error") ? "FAILED" : levels.length ? "COMPLETED_WITH_ERRORS" : null;
  }

  marked() {
    const wanted = { execution: node => markOf(this.stateOf(node).status).bad, changes: node => this.stateOf(node).change, coverage: node => this.stateOf(node).away }[this.state.kind] || (node => this.state.problems[node.id]);
    return this.graph.nodes.filter(node => isTask(node) && wanted(node));
  }

  goToNext() {
    const found = this.marked(), at = found.findIndex(node => node.id === this.selected);
    if (found.length) this.select(found[(at + 1) % found.length].id);
  }

  findNext(text) {
    const wanted = text.trim().toLowerCase();
    const found = wanted ? this.graph.nodes.filter(node => isTask(node) && `${node.ref} ${node.name} ${node.type}`.toLowerCase().includes(wanted)) : [];
    const at = found.findIndex(node => node.id === this.selected);
    if (found.length) this.select(found[(at + 1) % found.length].id);
    this.said.textContent = found.length ? `${found.length} found` : "Nothing found";
  }

  // --- drawing what is in view ----------------------------------------------------------------

  refresh() {
    if (!this.memory.viewport) this.firstView();
    const port = this.memory.viewport;
    if (!port) return;
    this.world.setAttribute("transform", `translate(${port.x},${port.y}) scale(${port.k})`);
    this.draw.classList.toggle("far", port.k < 0.35);
    this.zoomWord.textContent = `${Math.round(port.k * 100)} %`;
    const width = this.draw.clientWidth, height = this.draw.clientHeight, spare = 120;
    const view = [(-port.x - spare) / port.k, (-port.y - spare) / port.k, (width - port.x + spare) / port.k, (height - port.y + spare) / port.k];
    const keep = new Set();
    for (const node of this.graph.nodes) if (touches(view, node.x - 160, node.y - 20, node.x + node.w + 180, node.y + node.h + 8)) this.put(`n:${node.id}`, this.nodeKey(node), () => this.nodeElements(node), keep);
    const lines = this.graph.edges.filter(edge => touches(view, ...edge.box));
    const strength = edge => LINE_STRENGTH[this.state.edges[edge.id]] ?? 2;
    lines.sort((a, b) => strength(a) - strength(b));
    let changed = false;
    for (const edge of lines) changed = this.put(`e:${edge.id}`, this.edgeKey(edge), () => this.edgeElements(edge), keep) || changed;
    if (changed) for (const edge of lines) this.layers[1].append(this.drawn.get(`e:${edge.id}`).parts[0][1]); // what was taken lies on top
    for (const [id, old] of this.drawn) if (!keep.has(id)) { old.parts.forEach(([, part]) => part.remove()); this.drawn.delete(id); }
    this.markSelection();
  }

  put(id, key, build, keep) {
    keep.add(id);
    const old = this.drawn.get(id);
    if (old && old.key === key) return false;
    const parts = build();
    for (const [layer, part] of parts) {
      const before = old && old.parts.find(([same]) => same === layer);
      if (before && before[1].parentNode) before[1].replaceWith(part); else this.layers[layer].append(part);
    }
    if (old) old.parts.forEach(([, part]) => part.remove());
    this.drawn.set(id, { key, parts });
    return true;
  }

  nodeKey(node) {
    return JSON.stringify([node, this.state.nodes[node.id], this.state.problems[node.id], this.state.kind]);
  }

  edgeKey(edge) {
    return JSON.stringify([edge, this.state.edges[edge.id], this.state.notes[edge.id], this.editing]);
  }

  nodeElements(node) {
    if (node.kind === "merge") return [];
    const state = this.stateOf(node), corner = this.cornerOf(node, state.change && MARKS.changes[state.change]);
    const above = corner ? [[3, corner]] : [];
    if (node.kind === "start" || node.kind === "end") return [[2, drawTerm(node, this.state.kind === "execution" && !state.status)], ...above];
    const look = { state, mark: markOf(state.status || ""), note: this.noteOf(node), kind: this.state.kind, opened: this.nodes.has(node.children[0]) };
    return [[node.kind === "loop" || node.kind === "fan" ? 0 : 2, drawNode(node, look, this.words(node))], ...above];
  }

  cornerOf(node, change) {
    const problem = this.worstProblem(node.id);
    if (change) return drawCorner(node, change, change.word);
    return problem ? drawCorner(node, markOf(problem), this.state.problems[node.id].map(([, text]) => text).join(" ")) : null;
  }

  edgeElements(edge) {
    const kind = this.state.edges[edge.id] || "taken", parts = [[1, drawLine(edge, kind)]];
    if (edge.case) parts.push([3, drawCase(edge, kind, this.state.notes[edge.id])]);
    if (!this.editing || !edge.plus) return parts;
    const name = `Add a task between ${this.nameOf(edge.from)} and ${this.nameOf(edge.to)}`;
    return [...parts, [4, drawPlus(edge, edge.case ? `${name}, case ${edge.case}` : name)]];
  }

  nameOf(id) {
    const node = this.nodes.get(id);
    return { start: "the start", end: "the end", merge: "the way on" }[node.kind] || titleOf(node);
  }

  markSelection() {
    for (const group of this.world.querySelectorAll(".node")) {
      const on = group.dataset.id === this.selected;
      group.classList.toggle("selected", on);
      group.setAttribute("aria-pressed", String(on));
    }
    const at = this.nodes.get(this.cursor);
    this.ring.toggleAttribute("hidden", !at);
    if (!at) { this.draw.removeAttribute("aria-activedescendant"); this.ring.setAttribute("width", 0); return; }
    for (const [name, value] of Object.entries({ x: at.x - 4, y: at.y - 4, width: at.w + 8, height: at.h + 8 })) this.ring.setAttribute(name, value);
    this.draw.setAttribute("aria-activedescendant", `node-${at.index}`);
  }

  // --- the viewport ---------------------------------------------------------------------------

  firstView() {
    const width = this.draw.clientWidth, height = this.draw.clientHeight;
    if (!width) return;
    const start = this.graph.nodes[0], all = Math.min(1, (width - 24) / this.graph.w, (height - 24) / this.graph.h);
    const k = all > 0.8 ? all : Math.max(0.6, Math.min(1, (width - 24) / this.graph.w));
    const whole = this.graph.w * k <= width;
    this.memory.viewport = { k, x: whole ? (width - this.graph.w * k) / 2 : width / 2 - (start.x + 6) * k, y: 12 };
    const first = this.selected || (this.state.kind === "execution" && this.marked()[0]?.id);
    if (first && this.nodes.has(first)) this.bringIntoView(first);
    else if (this.graph.h * k + 24 < height) this.memory.viewport.y = Math.min(24, (height - this.graph.h * k) / 2);
  }

  fit() {
    const width = this.draw.clientWidth, height = this.draw.clientHeight;
    if (!width || !this.graph) return;
    const k = Math.max(0.1, Math.min(1, (width - 24) / this.graph.w, (height - 24) / this.graph.h));
    this.memory.viewport = { k, x: (width - this.graph.w * k) / 2, y: Math.max(12, (height - this.graph.h * k) / 2) };
    this.refresh();
  }

  zoom(factor, atX = this.draw.clientWidth / 2, atY = this.draw.clientHeight / 2) {
    const port = this.memory.viewport, k = Math.min(2, Math.max(0.05, port.k * factor));
    this.memory.viewport = { k, x: atX - ((atX - port.x) * k) / port.k, y: atY - ((atY - port.y) * k) / port.k };
    this.later();
  }

  bringIntoView(id) {
    const port = this.memory.viewport, node = this.nodes.get(id), width = this.draw.clientWidth, height = this.draw.clientHeight;
    if (!port || !node || !width) return;
    const left = node.x * port.k + port.x, top = node.y * port.k + port.y, tall = Math.min(node.h, 60) * port.k;
    if (left < 8 || left + node.w * port.k > width - 8) port.x += width / 2 - (left + (node.w * port.k) / 2);
    if (top < 24 || top + tall > height - 24) port.y += height / 2 - (top + tall / 2);
  }

  later() {
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; if (!this.twinShown) this.refresh(); });
  }
}

const grouped = count => count.toLocaleString("en");
const isTask = node => node && !["start", "end", "merge", "fan"].includes(node.kind);
const touches = (view, left, top, right, bottom) => left < view[2] && right > view[0] && top < view[3] && bottom > view[1];

function boxOf(points) {
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
  return [Math.min(...xs) - 8, Math.min(...ys), Math.max(...xs) + 8, Math.max(...ys)];
}

function groupBy(edges, end) {
  const groups = new Map();
  for (const edge of edges) { if (!groups.has(edge[end])) groups.set(edge[end], []); groups.get(edge[end]).push(edge); }
  return groups;
}

function isDark(element) {
  const paper = getComputedStyle(element).getPropertyValue("--st-background-color").trim();
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = "#ffffff";
  probe.fillStyle = paper || "#ffffff";
  const [r, g, b] = [1, 3, 5].map(at => parseInt(probe.fillStyle.slice(at, at + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}
