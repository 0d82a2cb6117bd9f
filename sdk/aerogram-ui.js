// Ready-made parts for pages that use Aerogram: <aerogram-prompt>, <aerogram-bell> and <aerogram-inbox>. Give each the SDK as
// `push`: `document.querySelector('aerogram-bell').push = push`. Texts are attributes, looks are parts and variables; see docs/sdk.md.

const STYLE = `
  :host { --a-back: #fff; --a-text: #1b1f24; --a-soft: #57606a; --a-line: #d0d7de; --a-main: #0b57d0; --a-main-text: #fff;
          color: var(--a-text); font: 16px/1.4 system-ui, sans-serif; color-scheme: light dark; }
  @media (prefers-color-scheme: dark) {
    :host { --a-back: #1b1f24; --a-text: #e6edf3; --a-soft: #9ea7b0; --a-line: #444c56; --a-main: #a8c7fa; --a-main-text: #062e6f; }
  }
  [hidden] { display: none !important; }
  button { font: inherit; color: inherit; background: none; border: 1px solid var(--a-line); border-radius: 8px; padding: 8px 14px;
           min-height: 44px; min-width: 44px; cursor: pointer; }
  button:focus-visible { outline: 3px solid var(--a-main); outline-offset: 2px; }
  .main { background: var(--a-main); color: var(--a-main-text); border-color: transparent; }
  .box { background: var(--a-back); border: 1px solid var(--a-line); border-radius: 12px; padding: 16px; box-shadow: 0 8px 24px #0003; }
  .row { display: flex; gap: 8px; flex-wrap: wrap; justify-content: flex-end; margin-top: 12px; }
  p { margin: 0; }
  ul { list-style: none; margin: 0; padding: 0; }
  li { display: flex; gap: 8px; align-items: center; border-bottom: 1px solid var(--a-line); }
  li .open { flex: 1; border: 0; text-align: start; border-radius: 0; min-width: 0; overflow-wrap: anywhere; }
  li.unread .open { font-weight: 600; }
  time { display: block; color: var(--a-soft); font-size: 14px; font-weight: 400; }
  iframe { width: 100%; height: 320px; border: 0; background: #fff; border-radius: 8px; }
  .bell { position: relative; border-radius: 50%; }
  .count { position: absolute; top: 0; right: 0; background: #b3261e; color: #fff; border-radius: 9px; font-size: 12px;
           min-width: 18px; line-height: 18px; }
`;

const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);

const make = (name, properties = {}, ...inside) => {
  const { part, ...others } = properties;
  const made = Object.assign(document.createElement(name), others);
  if (part) made.setAttribute('part', part);
  made.append(...inside);
  return made;
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
    this.begin(push, { signal: this.#listening.signal });
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
    const box = make('div', { className: 'box', part: 'box', role: 'dialog', ariaLabel: words }, make('p', { part: 'text', textContent: words }),
      make('div', { className: 'row' }, no, yes));
    box.addEventListener('keydown', ({ key }) => key === 'Escape' && no.click());
    this.show(box);
  }
}

class Bell extends Part {
  begin(push, options) {
    const count = make('span', { className: 'count', part: 'count', hidden: true });
    const sign = make('span', { textContent: '🔔', ariaHidden: 'true' });
    const bell = make('button', { className: 'bell', part: 'bell', onclick: () => this.toggle() }, sign, count);
    const box = make('div', { className: 'box', part: 'box', hidden: true });
    Object.assign(this, { bell, box, count });
    this.show(bell, box);
    box.addEventListener('change', () => this.refresh(push.inbox.unread));
    box.addEventListener('keydown', ({ key }) => key === 'Escape' && this.toggle());
    push.addEventListener('inbox', ({ detail }) => this.refresh(detail.unread), options);
    this.refresh();
  }
  // The list is asked for only where nobody has told how many are unread.
  async refresh(known) {
    if (known === undefined) await this.push.inbox.list().catch(() => {});
    const unread = known ?? this.push.inbox.unread;
    Object.assign(this.count, { textContent: unread > 99 ? '99+' : unread, hidden: !unread });
    Object.assign(this.bell, { ariaLabel: `${this.text('label', 'Messages')}: ${unread}`, ariaExpanded: String(!this.box.hidden) });
  }
  toggle() {
    this.box.hidden = !this.box.hidden;
    this.bell.ariaExpanded = String(!this.box.hidden);
    if (this.box.hidden) return void (this.box.replaceChildren(), this.bell.focus());
    const inbox = document.createElement('aerogram-inbox');
    this.box.append(inbox);
    inbox.push = this.push;
  }
}

class InboxList extends Part {
  begin(push, options) {
    push.addEventListener('inbox', () => this.list(), options);
    this.list();
  }
  async list() {
    const messages = await this.push.inbox.list().catch(() => undefined);
    if (this.isOpen) return;
    if (!messages) return this.say('offline', 'Messages cannot be shown now.');
    if (!messages.length) return this.say('empty', 'No messages');
    this.show(make('ul', { part: 'list' }, ...messages.map((message) => this.line(message))));
  }
  line({ id, title, sent, unread }) {
    const time = make('time', { dateTime: sent.toISOString(), textContent: sent.toLocaleString() });
    const open = make('button', { className: 'open', part: 'message', onclick: () => this.open(id) }, title, time);
    const label = `${this.text('remove', 'Remove')}: ${title}`;
    const remove = make('button', { part: 'remove', textContent: '×', ariaLabel: label, onclick: () => this.remove(id) });
    return make('li', { className: unread ? 'unread' : '', part: unread ? 'item unread' : 'item' }, open, remove);
  }
  say(name, usual) { this.show(make('p', { part: 'empty', textContent: this.text(name, usual) })); }
  async open(id) {
    const message = await this.push.inbox.get(id).catch(() => undefined);
    if (!message) return this.list();
    this.isOpen = true;
    const { title, body = '', type } = message;
    const leave = () => { this.isOpen = false; this.list(); };
    const back = make('button', { part: 'back', textContent: this.text('back', 'Back'), onclick: leave });
    // What somebody else has written cannot run anything, and reaches nothing of the page.
    const frame = make('iframe', { part: 'body', title });
    frame.setAttribute('sandbox', 'allow-popups');
    frame.src = URL.createObjectURL(new Blob([body], { type: `${type ?? 'text/html'}; charset=utf-8` }));
    this.show(back, make('h2', { part: 'title', textContent: title }), frame);
    back.focus();
    this.change(this.push.inbox.read(id));
  }
  remove(id) { this.change(this.push.inbox.remove(id)); }
  // What could not be changed is still there.
  async change(changing) {
    await changing.catch(() => {});
    await this.list();
    this.dispatchEvent(new Event('change', { bubbles: true, composed: true }));
  }
}

for (const [name, part] of [['prompt', Prompt], ['bell', Bell], ['inbox', InboxList]]) {
  if (!customElements.get(`aerogram-${name}`)) customElements.define(`aerogram-${name}`, part);
}
