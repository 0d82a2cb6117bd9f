// Ready-made parts for pages that use Aerogram: <aerogram-prompt>, <aerogram-bell> and <aerogram-inbox>. Give each the SDK as
// `push`: `document.querySelector('aerogram-bell').push = push`. Texts are attributes, looks are parts and variables; see
// docs/sdk.md.

// Colors are those of the page's own `color-scheme`. Browsers that do not know light-dark() show the light ones.
const STYLE = `
  :host { --a-back: #fff; --a-text: #1b1f24; --a-soft: #57606a; --a-line: #d0d7de; --a-main: #0b57d0; --a-main-text: #fff;
          color: var(--a-text); font: 16px/1.4 system-ui, sans-serif; }
  @supports (color: light-dark(#000, #fff)) {
    :host { --a-back: light-dark(#fff, #1b1f24); --a-text: light-dark(#1b1f24, #e6edf3); --a-soft: light-dark(#57606a, #9ea7b0);
            --a-line: light-dark(#d0d7de, #444c56); --a-main: light-dark(#0b57d0, #a8c7fa);
            --a-main-text: light-dark(#fff, #062e6f); }
  }
  :host(aerogram-bell) { position: relative; display: inline-block; }
  [hidden] { display: none !important; }
  * { box-sizing: border-box; }
  button { font: inherit; color: inherit; background: none; border: 1px solid var(--a-line); border-radius: 8px; padding: 8px 14px;
           min-height: 44px; min-width: 44px; cursor: pointer; }
  button:hover { border-color: var(--a-soft); }
  button:focus-visible { outline: 3px solid var(--a-main); outline-offset: -1px; }
  .main { background: var(--a-main); color: var(--a-main-text); border-color: transparent; }
  .box { background: var(--a-back); border: 1px solid var(--a-line); border-radius: 12px; padding: 16px; box-shadow: 0 8px 24px #0003;
         z-index: 1000; }
  .prompt { position: fixed; inset-block-end: 16px; inset-inline-end: 16px; width: min(400px, 100vw - 32px); }
  .panel { position: absolute; top: calc(100% + 8px); width: min(380px, 100vw - 16px); max-height: min(560px, 80vh); overflow: auto;
           padding: 8px 16px; }
  .row { display: flex; gap: 8px; flex-wrap: wrap; justify-content: flex-end; margin-top: 12px; }
  p { margin: 8px 0; }
  h2 { font-size: 18px; line-height: 1.3; margin: 4px 0 12px; overflow-wrap: anywhere; }
  ul { list-style: none; margin: 0; padding: 0; }
  li { display: flex; gap: 8px; align-items: center; }
  li + li { border-top: 1px solid var(--a-line); }
  li .open { flex: 1; border: 0; text-align: start; border-radius: 4px; padding-inline: 4px; min-width: 0; overflow-wrap: anywhere; }
  li .open:hover { text-decoration: underline; }
  li.unread .open { font-weight: 600; }
  .remove, .back { border: 0; color: var(--a-soft); padding-inline: 4px; }
  time { display: block; color: var(--a-soft); font-size: 14px; font-weight: 400; }
  iframe { width: 100%; height: 320px; border: 0; background: #fff; border-radius: 8px; }
  .bell { position: relative; display: grid; place-items: center; padding: 0; border-radius: 50%; background: var(--a-back); }
  .count { position: absolute; top: -2px; right: -2px; background: #b3261e; color: #fff; border-radius: 9px; font-size: 12px;
           min-width: 18px; line-height: 18px; }
`;

const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);

const SVG = 'http://www.w3.org/2000/svg';
const BELL = 'M12 22a2 2 0 0 0 2-2h-4a2 2 0 0 0 2 2m6-6v-5a6 6 0 0 0-4.5-5.8V4.5a1.5 1.5 0 0 0-3 0v.7A6 6 0 0 0 6 11v5l-2 2v1h16v-1z';
const GAP = 8;

const make = (name, properties = {}, ...inside) => {
  const { part, ...others } = properties;
  const made = Object.assign(document.createElement(name), others);
  if (part) made.setAttribute('part', part);
  made.append(...inside);
  return made;
};

const drawing = (path) => {
  const [svg, shape] = ['svg', 'path'].map((name) => document.createElementNS(SVG, name));
  for (const [name, value] of Object.entries({ viewBox: '0 0 24 24', width: 22, fill: 'currentColor', 'aria-hidden': true })) {
    svg.setAttribute(name, value);
  }
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
};

class Part extends HTMLElement {
  #push; #listening;

  constructor() {
    super();
    this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [sheet];
  }
  get push() { return this.#push; }
  set push(push) {
    this.#listening?.abort();
    this.#listening = new AbortController();
    this.#push = push;
    const { signal } = this.#listening;
    this.begin(push, { signal });
    // What could not be asked for is asked for again when that may work.
    const again = () => this.isStale && this.refresh();
    push.addEventListener('live', again, { signal });
    addEventListener('online', again, { signal });
  }
  // It may have been given the SDK before this file was loaded, or is at another place of the page now.
  connectedCallback() {
    const { push } = this;
    delete this.push;
    if (push && (this.#listening?.signal.aborted ?? true)) this.push = push;
  }
  disconnectedCallback() { this.#listening?.abort(); }
  text(name, usual) { return this.getAttribute(name) ?? usual; }
  show(...parts) { this.shadowRoot.replaceChildren(...parts); }
}

class Prompt extends Part {
  begin(push, options) {
    push.addEventListener('prompt', ({ detail }) => this.ask(detail), options);
  }
  ask({ accept, dismiss }) {
    const end = (then) => () => { this.show(); return then(); };
    const yes = make('button', { className: 'main', part: 'accept', textContent: this.text('accept', 'Allow'), onclick: end(accept) });
    const no = make('button', { part: 'dismiss', textContent: this.text('dismiss', 'Not now'), onclick: end(dismiss) });
    const words = this.text('text', 'May we send you notifications?');
    const box = make('div', { className: 'box prompt', part: 'box', role: 'dialog', ariaLabel: words },
      make('p', { part: 'text', textContent: words }), make('div', { className: 'row' }, no, yes));
    box.addEventListener('keydown', ({ key }) => key === 'Escape' && no.click());
    this.show(box);
  }
}

class Bell extends Part {
  begin(push, options) {
    const count = make('span', { className: 'count', part: 'count', hidden: true });
    const bell = make('button', { className: 'bell', part: 'bell', onclick: () => this.toggle() }, drawing(BELL), count);
    const box = make('div', { className: 'box panel', part: 'box', hidden: true });
    Object.assign(this, { bell, box, count });
    this.show(bell, box);
    box.addEventListener('change', () => this.refresh(push.inbox.unread));
    this.addEventListener('keydown', ({ key }) => key === 'Escape' && !box.hidden && this.toggle(), options);
    addEventListener('click', (event) => !box.hidden && !event.composedPath().includes(this) && this.toggle(false), options);
    addEventListener('resize', () => this.place(), options);
    push.addEventListener('inbox', ({ detail }) => this.refresh(detail.unread), options);
    this.refresh();
  }
  // The list is asked for only where nobody has told how many are unread.
  async refresh(known) {
    this.isStale = known === undefined && !await this.push.inbox.list().catch(() => {});
    const unread = known ?? this.push.inbox.unread;
    Object.assign(this.count, { textContent: unread > 99 ? '99+' : unread, hidden: !unread });
    Object.assign(this.bell, { ariaLabel: `${this.text('label', 'Messages')}: ${unread}`, ariaExpanded: String(!this.box.hidden) });
  }
  // By the keyboard, one goes on where one was.
  toggle(isBack = true) {
    this.box.hidden = !this.box.hidden;
    this.bell.ariaExpanded = String(!this.box.hidden);
    this.box.replaceChildren();
    if (this.box.hidden) return void (isBack && this.bell.focus());
    const inbox = document.createElement('aerogram-inbox');
    this.box.append(inbox);
    inbox.push = this.push;
    this.place();
  }
  // Below the bell, and inside the window wherever the bell is.
  place() {
    const { left } = this.getBoundingClientRect();
    const most = document.documentElement.clientWidth - this.box.offsetWidth - GAP;
    this.box.style.left = `${Math.max(GAP, Math.min(left, most)) - left}px`;
  }
}

class InboxList extends Part {
  begin(push, options) {
    push.addEventListener('inbox', () => this.refresh(), options);
    this.refresh();
  }
  async refresh() {
    // An answer that a later one has overtaken is old.
    const turn = this.turn = {};
    const messages = await this.push.inbox.list().catch(() => undefined);
    if (turn !== this.turn) return;
    this.isStale = !messages;
    // A bell shows how many of them are unread.
    if (messages) this.dispatchEvent(new Event('change', { bubbles: true, composed: true }));
    if (this.isOpen) return;
    if (!messages) return this.say('offline', 'Messages cannot be shown now.');
    if (!messages.length) return this.say('empty', 'No messages');
    this.show(make('ul', { part: 'list' }, ...messages.map((message) => this.line(message))));
  }
  line({ id, title, sent, unread }) {
    const when = sent.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
    const time = make('time', { dateTime: sent.toISOString(), textContent: when });
    const open = make('button', { className: 'open', part: 'message', onclick: () => this.open(id) }, title, time);
    const label = `${this.text('remove', 'Remove')}: ${title}`;
    const remove = make('button', { className: 'remove', part: 'remove', textContent: '×', ariaLabel: label });
    remove.onclick = () => this.change(this.push.inbox.remove(id));
    return make('li', { className: unread ? 'unread' : '', part: unread ? 'item unread' : 'item' }, open, remove);
  }
  say(name, usual) { this.show(make('p', { part: 'empty', textContent: this.text(name, usual) })); }
  async open(id) {
    const message = await this.push.inbox.get(id).catch(() => undefined);
    // The bell may be closed by now: what nobody sees is not read.
    if (!this.isConnected) return;
    // It is gone, or nothing can be reached: the list shows which.
    if (!message) return this.refresh();
    this.isOpen = true;
    const { title, body = '', type } = message;
    const leave = () => { this.isOpen = false; this.refresh(); };
    const words = `‹ ${this.text('back', 'Back')}`;
    const back = make('button', { className: 'back', part: 'back', textContent: words, onclick: leave });
    // What somebody else has written cannot run anything, and reaches nothing of the page.
    const frame = make('iframe', { part: 'body', title });
    frame.setAttribute('sandbox', 'allow-popups');
    frame.src = URL.createObjectURL(new Blob([body], { type: `${type ?? 'text/html'}; charset=utf-8` }));
    frame.onload = () => URL.revokeObjectURL(frame.src);
    this.show(back, make('h2', { part: 'title', textContent: title }), frame);
    back.focus();
    this.change(this.push.inbox.read(id));
  }
  // What could not be changed is still there.
  async change(changing) {
    await changing.catch(() => {});
    await this.refresh();
  }
}

for (const [name, part] of [['prompt', Prompt], ['bell', Bell], ['inbox', InboxList]]) {
  if (!customElements.get(`aerogram-${name}`)) customElements.define(`aerogram-${name}`, part);
}
