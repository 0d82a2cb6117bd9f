// Aerogram for web pages: makes a browser a channel, keeps what it says about itself until the service has it, and tells what it is
// sent. No dependencies, no build step: what is served is this file with all parts after it, one module. A part that is made here
// knows what it is given, and shows what it returns. State is in IndexedDB, where the service worker (aerogram-sw.js) reads it. See
// docs/sdk.md.

// For what is under way when the channel is forgotten.
const LAST_WAIT = 2000;

const one = (id) => `/message/${encodeURIComponent(id)}`;
const message = ({ message_id: id, title, message: body, content_type: type, message_sent: sent, unread, extra }) => (
  { id, title, body, type, sent: new Date(`${sent}Z`), unread, extra }
);

export class Aerogram extends EventTarget {
  #options; #tab; #subscription; #channel; #outbox; #sessions; #line; #prompting; #turn = 0; #last = 0;

  channelId;
  namedUser;
  connected = false;
  inbox = {
    unread: 0,
    list: async () => {
      const turn = ++this.#turn;
      const { messages } = await this.#ask('GET', '');
      this.#count(turn, messages.filter(({ unread }) => unread).length);
      return messages.map(message);
    },
    get: async (id) => message(await this.#ask('GET', one(id))),
    read: async (id) => void await this.#ask('POST', `${one(id)}/read`),
    remove: async (id) => void await this.#ask('DELETE', one(id)),
  };

  static async init(options) {
    if (!isSecureContext) throw new Error('Aerogram needs https: browsers have what it uses on https:// pages, and on http://localhost, only.');
    return new Aerogram(options).#open();
  }

  constructor(options) {
    super();
    const { url, appKey } = options;
    if (!url || !appKey) throw new TypeError('Aerogram.init needs url and appKey.');
    this.#options = { worker: '/aerogram-sw.js', live: true, ...options, url: new URL(url, location.href).href.replace(/\/$/, '') };
  }

  get permission() { return globalThis.Notification?.permission ?? 'denied'; }

  async #open() {
    const options = this.#options;
    const { url, appKey, consent } = options;
    const state = await State.open(appKey);
    const tab = this.#tab = makeTab(this, state, appKey, (news) => this.#hear(news));
    const subscription = this.#subscription = makeSubscription(state, options);
    const channel = this.#channel = makeChannel(tab, options, subscription);
    const outbox = this.#outbox = makeOutbox(tab, channel);
    this.#sessions = makeSessions(tab, outbox, (visits) => this.#prompt(visits));
    this.#line = makeLine(tab, channel, url);
    this.namedUser = await state.get('user');
    this.channelId = (await state.get('channel'))?.id;
    await this.#wait();
    channel.uninstall().catch(tab.fail);
    if (consent !== 'required' || await state.get('consent')) {
      tab.consent();
      await tab.start.catch(() => {});
    }
    return this;
  }

  #wait() {
    this.#tab.wait(() => this.#begin());
    const { signal, state } = this.#tab;
    addEventListener('online', () => this.#outbox.flush(), { signal });
    addEventListener('offline', () => this.#line.drop(), { signal });
    addEventListener('pagehide', () => this.#leave(), { signal });
    const { url, appKey } = this.#options;
    return state.put('service', { url, appKey });
  }

  async #begin() {
    const { fail, signal, state } = this.#tab;
    if (signal.aborted) throw forgotten();
    const { worker, live } = this.#options;
    if (worker && (await state.get('push'))) await this.#subscription.worker().catch(fail);
    await this.#channel.ready(true).then(() => this.#channel.register()).catch(fail);
    await this.#sessions.begin();
    if (!live) return;
    addEventListener('pageshow', ({ persisted }) => persisted && this.#line.follow(), { signal });
    this.#line.follow();
  }

  // Notifications of this browser

  async enablePush() {
    // First, because browsers ask only right after a click.
    const permission = globalThis.Notification ? await Notification.requestPermission() : 'denied';
    this.#tab.emit('permission', { permission });
    if (permission !== 'granted') return permission;
    await this.#channel.ready();
    const worker = await this.#subscription.worker();
    const { public_key: key, configured } = await this.#channel.call('GET', '/api/platforms/web/vapid');
    await this.#subscription.begin(worker, key);
    await this.#channel.register();
    if (configured === false) {
      const command = `aerogram platform set ${this.#options.appKey} webpush --subject mailto:you@example.com`;
      this.#tab.fail(new Error(`Web push is not set up for this app, so no notification will come. Its operator does it by: ${command}`));
    }
    return permission;
  }

  async disablePush() {
    await this.#channel.ready();
    await this.#subscription.end();
    await this.#tab.state.put('push', false);
    await this.#channel.register();
  }

  async #prompt(visits) {
    const { state } = this.#tab;
    const { prompt } = this.#options;
    if (!prompt) return;
    const { visits: least = 1, seconds = 0, againAfterDays = 30 } = prompt;
    const isLate = Date.now() - (await state.get('dismissed') ?? 0) > againAfterDays * DAY;
    if (visits < least || this.permission !== 'default' || !isLate) return;
    clearTimeout(this.#prompting);
    this.#prompting = setTimeout(() => this.#tab.emit('prompt', {
      accept: () => this.enablePush(), dismiss: () => state.put('dismissed', Date.now()),
    }), seconds * 1000);
  }

  // The inbox has a user and a password of its own.
  async #ask(method, path, isAgain) {
    await this.#channel.ready();
    const { id, password } = await this.#tab.once('inbox', async () => {
      const made = await this.#channel.call('POST', '/api/user', (channel) => ({ web_channels: [channel] }));
      return { id: made.user_id, password: made.password };
    });
    try {
      const headers = { Authorization: basic(id, password) };
      return await this.#channel.ask(method, `/api/user/${id}/messages${path}`, undefined, headers);
    } catch (error) {
      if (error.code !== REFUSED || isAgain) throw error;
      const { state } = this.#tab;
      if ((await state.get('inbox'))?.id === id) await state.put('inbox');
      return this.#ask(method, path, true);
    }
  }

  // What was told, or asked for, since an answer was asked for is newer than the answer.
  #count(turn, unread) {
    if (turn > this.#last) [this.#last, this.inbox.unread] = [turn, unread];
  }

  // Who somebody is

  async #contact(action, headers) {
    await this.#channel.ready();
    const about = { device_info: { device_type: 'web' }, action };
    await this.#channel.call('POST', '/api/contacts/identify/v2', about, { how: 'secret', headers });
    const user = action.named_user_id;
    await this.#tab.state.put('user', user);
    this.#tab.tell({ type: 'user', user });
  }

  async identify(user, proof) {
    // Another tab may have changed it, and not said so yet.
    if (user === await this.#tab.state.get('user')) return;
    await this.#contact({ type: 'identify', named_user_id: user }, proof && { 'X-UA-Named-User-Proof': proof });
  }

  reset() { return this.#contact({ type: 'reset' }); }

  // What is kept and sent together

  addTags(tags, group) { return this.#tag('add', tags, group); }
  removeTags(tags, group) { return this.#tag('remove', tags, group); }
  #tag(kind, tags, group = 'device') { return this.#outbox.add({ tags: [].concat(tags).map((tag) => ({ kind, group, tag })) }); }
  setAttributes(values) {
    const plain = (value) => (value instanceof Date ? value.toISOString().slice(0, 19) : value);
    const change = ([key, value]) => (value === null ? { action: 'remove', key } : { action: 'set', key, value: plain(value) });
    return this.#outbox.add({ attributes: Object.entries(values).map(change) });
  }
  subscribe(list) { return this.#outbox.add({ lists: { action: 'subscribe', list_id: list } }); }
  unsubscribe(list) { return this.#outbox.add({ lists: { action: 'unsubscribe', list_id: list } }); }
  track(name, { value, ...properties } = {}) {
    return this.#sessions.event('enhanced_custom_event', {
      event_name: name, properties, ...(value === undefined ? {} : { event_value: String(Math.round(value * 1e6)) }),
    });
  }

  // What becomes of a push that a page shows itself. The worker tells of its notifications.
  clicked(push, { button } = {}) { return this.#sessions.event('push_click', { push_id: push, ...(button && { button_id: button }) }); }
  dismissed(push) { return this.#sessions.event('push_dismiss', { push_id: push }); }

  // What tabs and worker tell

  #hear({ type, ...detail }) {
    if (type === 'hurry') return this.#channel.hurry();
    if (type === 'status?') return void (this.#line.isOpen() && this.#tab.post({ type: 'live', connected: true }));
    if (type === 'consent') return this.#tab.consent();
    if (type === 'forgotten') this.#end();
    if (type === 'live') this.connected = detail.connected;
    if (type === 'user') this.namedUser = detail.user;
    if (type === 'registered') this.channelId = detail.channelId;
    if (type === 'inbox' && detail.unread !== undefined) this.#count(++this.#turn, detail.unread);
    this.#tab.emit(type, detail);
    if (type === 'push' && detail.push._uamid && !this.connected) this.#tab.emit('inbox', {});
  }

  // The end

  #hangUp() {
    this.#line.hangUp();
    this.connected = false;
  }

  #leave() {
    this.#hangUp();
    if (this.channelId) this.#outbox.flush(true);
  }

  #end() {
    this.#tab.end();
    this.#hangUp();
    this.channelId = this.namedUser = undefined;
    this.#sessions.end();
    this.#outbox.stop();
    clearTimeout(this.#prompting);
  }

  async consent(given) {
    if (!given) return this.forget();
    if (this.#tab.signal.aborted) await this.#wait();
    await this.#tab.state.put('consent', true);
    this.#tab.tell({ type: 'consent' });
    await this.#tab.start;
  }

  async forget() {
    const { fail } = this.#tab;
    // The channel ends whether or not that works, and soon.
    const unsubscribing = this.#subscription.end().catch(fail);
    await Promise.race([unsubscribing, new Promise((resolve) => { setTimeout(resolve, LAST_WAIT); })]);
    // What is on its way arrives before, unless it takes too long, and nothing is sent after.
    const timer = setInterval(() => this.#tab.tell({ type: 'hurry' }), LAST_WAIT);
    await this.#channel.forget(() => clearInterval(timer));
    this.#tab.tell({ type: 'forgotten' });
    await this.#channel.uninstall().catch(fail);
  }
}
