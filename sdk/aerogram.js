// Aerogram for web pages: makes a browser a channel, keeps what it says about itself until the service has it, and tells what it is
// sent. No dependencies, no build step. State is in IndexedDB, where the service worker (aerogram-sw.js) reads it. See docs/sdk.md.

const DAY = 86_400_000;
const MOST_QUEUED = 500;
const MOST_AT_ONCE = 100;
const MOST_SEEN = 100;
const LONGEST_WAIT = 300_000;

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

class State {
  static async open(name) {
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore('state');
      opening.result.createObjectStore('queue', { autoIncrement: true });
    };
    return Object.assign(new State(), { db: await done(opening) });
  }
  store(name, mode = 'readwrite') { return this.db.transaction(name, mode).objectStore(name); }
  get(key) { return done(this.store('state', 'readonly').get(key)); }
  // Without a value it is forgotten.
  put(key, value) { return done(this.store('state').put(value, key)); }
  async add(item) {
    const queue = this.store('queue');
    await done(queue.add(item));
    const extra = await done(queue.count()) - MOST_QUEUED;
    if (extra > 0) for (const key of await done(queue.getAllKeys(null, extra))) queue.delete(key);
  }
  async first() {
    const queue = this.store('queue', 'readonly');
    const [keys, items] = await Promise.all([done(queue.getAllKeys(null, MOST_AT_ONCE)), done(queue.getAll(null, MOST_AT_ONCE))]);
    return { keys, items };
  }
  async drop(keys) {
    const queue = this.store('queue');
    await Promise.all(keys.map((key) => done(queue.delete(key))));
  }
  clear() { return Promise.all(['state', 'queue'].map((name) => done(this.store(name).clear()))); }
}

const failure = (status, text, retryAfter) => Object.assign(new Error(text), { status, retryAfter });
const passes = ({ status }) => !status || status === 429 || status >= 500;
// Pages with a policy about script addresses allow the name 'aerogram'.
let trusted;
const basic = (name, secret) => `Basic ${btoa(`${name}:${secret}`)}`;
const backOff = (tries, least = 1000) => Math.random() * Math.min(LONGEST_WAIT, least * 2 ** tries) + least / 2;
const uuid = () => crypto.randomUUID();
const one = (id) => `/message/${encodeURIComponent(id)}`;
const message = ({ message_id: id, title, message: body, content_type: type, message_sent: sent, unread, extra }) => (
  { id, title, body, type, sent: new Date(`${sent}Z`), unread, extra }
);

export class Aerogram extends EventTarget {
  #options; #name; #state; #url; #user; #consent; #start; #isConnected = false; #timer; #tries = 0; #tabs; #socket; #line;
  #stop = new AbortController(); #session = uuid(); #fail = (error) => this.#emit('error', { error });

  channelId;
  inbox = {
    unread: 0,
    list: async () => {
      const { messages } = await this.#ask('GET', '');
      this.inbox.unread = messages.filter(({ unread }) => unread).length;
      return messages.map(message);
    },
    get: async (id) => message(await this.#ask('GET', one(id))),
    read: async (id) => void await this.#ask('POST', `${one(id)}/read`),
    remove: async (id) => void await this.#ask('DELETE', one(id)),
  };

  static async init(options) {
    const push = new Aerogram(options);
    await push.#open();
    return push;
  }

  constructor(options) {
    super();
    const { url, appKey } = options;
    if (!url || !appKey) throw new TypeError('Aerogram.init needs url and appKey.');
    this.#options = { worker: '/aerogram-sw.js', live: true, ...options };
    // Of its database, its locks and the channel between its tabs.
    this.#name = `aerogram-${appKey}`;
    this.#url = new URL(url, location.href).href.replace(/\/$/, '');
  }

  get permission() { return globalThis.Notification?.permission ?? 'denied'; }
  get namedUser() { return this.#user; }
  get connected() { return this.#isConnected; }

  async #open() {
    const { appKey, consent } = this.#options;
    this.#state = await State.open(this.#name);
    await this.#state.put('service', { url: this.#url, appKey });
    this.#user = await this.#state.get('user');
    this.channelId = (await this.#state.get('channel'))?.id;
    this.#tabs = new BroadcastChannel(this.#name);
    this.#tabs.onmessage = ({ data }) => this.#hear(data);
    const { signal } = this.#stop;
    navigator.serviceWorker?.addEventListener('message', ({ data }) => data?.aerogram && this.#hear(data.aerogram), { signal });
    addEventListener('online', () => this.#flush(), { signal });
    addEventListener('pagehide', () => this.#leave(), { signal });
    addEventListener('pageshow', ({ persisted }) => persisted && this.#line && this.#follow(), { signal });
    const given = consent !== 'required' || await this.#state.get('consent');
    const asked = new Promise((resolve) => { this.#consent = resolve; });
    this.#start = (given ? Promise.resolve() : asked).then(() => this.#begin());
    this.#start.catch(this.#fail);
    if (given) await this.#start.catch(() => {});
  }

  async #begin() {
    const visits = (await this.#state.get('visits') ?? 0) + 1;
    await this.#state.put('visits', visits);
    if (this.#options.worker && (await this.#state.get('push'))) await this.#worker().catch(this.#fail);
    await this.#ready(true).then(() => this.#register()).catch(this.#fail);
    const click = await this.#state.get('click');
    const tapped = click && Date.now() - click.at < 60_000 ? { push_id: click.push } : {};
    await this.#event('app_foreground', { ...tapped, time_zone: String(-new Date().getTimezoneOffset() * 60) });
    if (this.#options.live) this.#follow();
    this.#prompt(visits);
  }

  async #ready(isStart) {
    if (!isStart) await this.#start;
    if (this.#stop.signal.aborted) throw new Error('This channel was forgotten.');
    if (!this.channelId) await this.#channel();
  }

  // One tab at a time.
  #alone(what, options, work) { return navigator.locks.request(`${this.#name}-${what}`, options, work); }

  #channel() { return this.#once('channel', () => this.#create()); }

  // What is made once and kept, by one tab for all of them.
  #once(key, make) {
    return this.#alone(key, {}, async () => {
      let kept = await this.#state.get(key);
      if (!kept) await this.#state.put(key, kept = await make());
      if (key === 'channel') this.channelId = kept.id;
      return kept;
    });
  }

  async #create() {
    // The same for all tries, so that a lost answer does not leave a second channel behind.
    const headers = { 'X-UA-App-Key': this.#options.appKey, 'Idempotency-Key': await this.#once('attempt', uuid) };
    const channel = this.#facts();
    const { channel_id: id, channel_secret: secret } = await this.#send('POST', '/api/web-channels', { channel }, headers);
    await this.#state.put('attempt');
    await this.#state.put('registered', { text: JSON.stringify(channel), id, at: Date.now() });
    this.#emit('registered', { channelId: id });
    return { id, secret };
  }

  #facts(subscription) {
    const [language, country] = navigator.language.split('-');
    const { endpoint, keys } = subscription?.toJSON() ?? {};
    const { live } = this.#options;
    return {
      device_type: 'web', opt_in: Boolean(endpoint) || live, live, push_address: endpoint ?? null,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, locale_language: language,
      ...(country?.length === 2 && { locale_country: country }), ...(endpoint && { web: { subscription: keys } }),
    };
  }

  // Nothing is sent when nothing has changed, except once a day.
  async #register() {
    const subscription = (await this.#state.get('push')) && await this.#subscription();
    const facts = this.#facts(subscription);
    const [text, last] = [JSON.stringify(facts), await this.#state.get('registered')];
    if (last?.text === text && last.id === this.channelId && Date.now() - last.at < DAY) return;
    await this.#call('PUT', (id) => `/api/channels/${id}`, { channel: facts });
    await this.#state.put('registered', { text, id: this.channelId, at: Date.now() });
  }

  async #send(method, path, body, headers, keepalive) {
    let answer;
    try {
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
      answer = await fetch(this.#url + path, {
        method, keepalive, headers: { ...type, ...headers }, body: body && JSON.stringify(body), credentials: 'omit',
      });
    } catch (error) {
      throw failure(0, error.message);
    }
    const told = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
    if (answer.ok) return told;
    throw failure(answer.status, told.error ?? `${method} ${path}: ${answer.status}`, Number(answer.headers.get('Retry-After')) * 1000);
  }

  async #secret() {
    const { id, secret } = await this.#channel();
    return { 'X-UA-App-Key': this.#options.appKey, Authorization: basic(id, secret) };
  }

  async #token() {
    const kept = await this.#state.get('token');
    if (kept && kept.id === this.channelId && kept.ends - Date.now() > 60_000) return kept.text;
    const { token, expires_in: left } = await this.#send('GET', '/api/auth/device', undefined, await this.#secret());
    await this.#state.put('token', { text: token, id: this.channelId, ends: Date.now() + left });
    return token;
  }

  // As the channel of this browser. A token that is refused is replaced once, and a channel that is gone, too.
  async #call(method, path, body, { headers, how, keepalive } = {}) {
    for (let tries = 0; ; tries++) {
      try {
        const own = how === 'secret' ? await this.#secret() : { Authorization: `Bearer ${await this.#token()}` };
        const where = typeof path === 'function' ? path(this.channelId) : path;
        return await this.#send(method, where, body, { ...own, ...headers }, keepalive);
      } catch (error) {
        if (tries > 1 || ![401, 404, 409].includes(error.status)) throw error;
        const isOver = error.status !== 401 || !(await this.#state.get('token'));
        await this.#state.put('token');
        if (isOver) await this.#lose();
      }
    }
  }

  // The channel is gone: the next call makes a new one.
  async #lose() {
    await Promise.all(['channel', 'registered', 'inbox', 'at', 'user'].map((key) => this.#state.put(key)));
    this.#user = undefined;
    await this.#channel();
  }

  // Notifications of this browser

  async #worker() {
    const { worker, scope, appKey } = this.#options;
    const script = new URL(worker, location.href);
    script.searchParams.set('app', appKey);
    trusted ??= globalThis.trustedTypes?.createPolicy('aerogram', { createScriptURL: (url) => url });
    await navigator.serviceWorker.register(trusted?.createScriptURL(script.href) ?? script.href, { scope, updateViaCache: 'none' });
    return navigator.serviceWorker.ready;
  }

  async #subscription() {
    return (await navigator.serviceWorker?.getRegistration(this.#options.scope))?.pushManager?.getSubscription();
  }

  async enablePush() {
    // First, because browsers ask only right after a click.
    const permission = globalThis.Notification ? await Notification.requestPermission() : 'denied';
    this.#emit('permission', { permission });
    if (permission !== 'granted') return permission;
    await this.#ready();
    const { pushManager } = await this.#worker();
    const { public_key: key } = await this.#call('GET', '/api/platforms/web/vapid');
    const asked = { userVisibleOnly: true, applicationServerKey: key };
    await pushManager.subscribe(asked).catch(async () => {
      // One that was made with another key is in the way.
      await (await this.#subscription())?.unsubscribe();
      return pushManager.subscribe(asked);
    });
    await this.#state.put('push', true);
    await this.#register();
    return permission;
  }

  async disablePush() {
    await this.#ready();
    await (await this.#subscription())?.unsubscribe();
    await this.#state.put('push', false);
    await this.#register();
  }

  async #prompt(visits) {
    const { prompt } = this.#options;
    const { visits: least = 1, seconds = 0, againAfterDays = 30 } = prompt ?? {};
    const isLate = Date.now() - (await this.#state.get('dismissed') ?? 0) > againAfterDays * DAY;
    if (!prompt || visits < least || this.permission !== 'default' || !isLate) return;
    setTimeout(() => this.#emit('prompt', {
      accept: () => this.enablePush(), dismiss: () => this.#state.put('dismissed', Date.now()),
    }), seconds * 1000);
  }

  // The inbox has a user and a password of its own.
  async #ask(method, path, isAgain) {
    await this.#ready();
    const { id, password } = await this.#once('inbox', async () => {
      const made = await this.#call('POST', '/api/user', { web_channels: [this.channelId] });
      return { id: made.user_id, password: made.password };
    });
    try {
      return await this.#send(method, `/api/user/${id}/messages${path}`, undefined, { Authorization: basic(id, password) });
    } catch (error) {
      if (error.status !== 401 || isAgain) throw error;
      await this.#state.put('inbox');
      return this.#ask(method, path, true);
    }
  }

  // Who somebody is

  async #contact(action, headers) {
    await this.#ready();
    return this.#call('POST', '/api/contacts/identify/v2', { device_info: { device_type: 'web' }, action }, { how: 'secret', headers });
  }

  async identify(user, proof) {
    if (user === this.#user) return;
    await this.#contact({ type: 'identify', named_user_id: user }, proof && { 'X-UA-Named-User-Proof': proof });
    await this.#state.put('user', this.#user = user);
  }

  async reset() {
    await this.#contact({ type: 'reset' });
    await this.#state.put('user', this.#user = undefined);
  }

  // What is kept and sent together

  addTags(tags, group = 'device') { return this.#queue({ tags: [].concat(tags), group, add: true }); }
  removeTags(tags, group = 'device') { return this.#queue({ tags: [].concat(tags), group, add: false }); }
  setAttributes(values) {
    const plain = (value) => (value instanceof Date ? value.toISOString().slice(0, 19) : value);
    const change = ([key, value]) => (value === null ? { action: 'remove', key } : { action: 'set', key, value: plain(value) });
    return this.#queue({ attributes: Object.entries(values).map(change) });
  }
  subscribe(list) { return this.#queue({ list, action: 'subscribe' }); }
  unsubscribe(list) { return this.#queue({ list, action: 'unsubscribe' }); }
  track(name, { value, ...properties } = {}) {
    return this.#event('enhanced_custom_event', {
      event_name: name, properties, ...(value === undefined ? {} : { event_value: String(Math.round(value * 1e6)) }),
    });
  }

  #event(type, data) {
    const time = (Date.now() / 1000).toFixed(3);
    return this.#queue({ event: { type, event_id: uuid(), time, data: { session_id: this.#session, ...data } } });
  }

  async #queue(item) {
    if (this.#stop.signal.aborted) return;
    await this.#state.add(item);
    this.#later(200);
  }

  #later(time) { this.#timer ??= setTimeout(() => this.#flush(), time); }

  #flush(keepalive = false) {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.#alone('queue', { ifAvailable: !keepalive }, async (lock) => {
      if (!lock) return this.#later(1000);
      await this.#ready();
      for (let sent = MOST_AT_ONCE; sent === MOST_AT_ONCE;) {
        const { keys, items } = await this.#state.first();
        await this.#deliver(items, keepalive);
        await this.#state.drop(keys);
        sent = keys.length;
      }
      this.#tries = 0;
    }).catch((error) => {
      this.#fail(error);
      this.#later(error.retryAfter || backOff(this.#tries++));
    });
  }

  async #deliver(items, keepalive) {
    const events = items.flatMap(({ event }) => event ?? []);
    const batch = {
      tags: {}, attributes: items.flatMap(({ attributes }) => attributes ?? []),
      subscription_lists: items.flatMap(({ list, action }) => (list ? { action, list_id: list } : [])),
    };
    // Of a tag that was added and removed only the last counts.
    const last = new Map(items.flatMap(({ tags, group, add }) => (tags ?? []).map((tag) => [JSON.stringify([group, tag]), add])));
    for (const [text, add] of last) {
      const [[group, tag], kind] = [JSON.parse(text), add ? 'add' : 'remove'];
      ((batch.tags[kind] ??= {})[group] ??= []).push(tag);
    }
    if (!last.size) delete batch.tags;
    const has = last.size || batch.attributes.length || batch.subscription_lists.length;
    const calls = [
      has && ['PUT', (id) => `/api/channels/sdk/batch/${id}`, batch],
      events.length && ['POST', '/api/web-events', events],
    ];
    // Clocks of devices differ, and the service puts times right by this.
    const headers = { 'X-UA-Sent-At': String(Date.now() / 1000) };
    for (const call of calls.filter(Boolean)) {
      await this.#call(...call, { keepalive, headers }).catch((error) => {
        if (passes(error)) throw error;
        // What the service refuses it refuses again.
        this.#fail(error);
      });
    }
  }

  // The live connection, which one tab has for all of them

  #follow() {
    const { signal } = this.#line = new AbortController();
    // A page that is left may be kept by the browser as it is, and must not keep the others waiting.
    const left = new Promise((resolve) => { signal.addEventListener('abort', resolve); });
    this.#alone('live', { signal }, () => Promise.race([this.#lead(signal), left])).catch(() => {});
    this.#tabs.postMessage({ type: 'status?' });
  }

  async #lead(signal) {
    for (let tries = 0; !signal.aborted; tries++) {
      const { code, retry, lasted } = await this.#connect().catch(() => ({}));
      if (signal.aborted) return;
      this.#status(false);
      if (code === 4403) return;
      if (code === 4401) await this.#state.put('token');
      if (code === 4410) await this.#lose().catch(() => {});
      if (lasted > 10_000) tries = 0;
      await this.#pause(retry ?? backOff(tries, code === 4429 ? 30_000 : 500), signal);
    }
  }

  #pause(time, signal) {
    return new Promise((resolve) => {
      setTimeout(resolve, time);
      addEventListener('online', resolve, { once: true, signal });
      signal.addEventListener('abort', resolve, { once: true });
    });
  }

  async #connect() {
    const [token, at] = [await this.#token(), await this.#state.get('at')];
    const query = at ? `?after=${encodeURIComponent(at)}` : '';
    const socket = new WebSocket(`${this.#url.replace(/^http/, 'ws')}/live${query}`, ['aerogram.live.1', `token.${token}`]);
    this.#socket = socket;
    const began = Date.now();
    let [retry, work, acked] = [undefined, Promise.resolve(), false];
    const ack = () => {
      acked = false;
      this.#state.get('at').then((ack) => socket.readyState === 1 && socket.send(JSON.stringify({ ack })));
    };
    socket.onmessage = ({ data }) => {
      const told = JSON.parse(data);
      if (told.type === 'hello') this.#status(true, told.complete);
      if (told.type === 'bye') retry = told.retry;
      if (told.at) work = work.then(() => this.#take(told)).then(() => { acked ||= setTimeout(ack, 1000); });
    };
    const { code } = await new Promise((resolve) => { socket.onclose = resolve; });
    await work;
    return { code, retry, lasted: Date.now() - began };
  }

  async #take({ type, at, push, unread }) {
    await this.#state.put('at', at);
    if (type === 'inbox') this.#tell({ type: 'inbox', unread });
    if (type !== 'push' || await this.#isSeen(push.push_id)) return;
    this.#tell({ type: 'message', push });
    if (push._uamid) this.#tell({ type: 'inbox' });
  }

  // Live and by web push, the same push is shown once.
  async #isSeen(id) {
    const seen = await this.#state.get('seen') ?? [];
    if (seen.includes(id)) return true;
    await this.#state.put('seen', [...seen, id].slice(-MOST_SEEN));
    return false;
  }

  #status(isConnected, complete = true) {
    if (isConnected !== this.#isConnected) this.#tell({ type: 'live', connected: isConnected });
    if (!complete) this.#tell({ type: 'inbox' });
  }

  #tell(news) {
    this.#tabs.postMessage(news);
    this.#hear(news);
  }

  #hear({ type, ...detail }) {
    const isOpen = this.#socket?.readyState === WebSocket.OPEN;
    if (type === 'status?') return void (isOpen && this.#tabs.postMessage({ type: 'live', connected: true }));
    if (type === 'forgotten') this.#end();
    if (type === 'live') this.#isConnected = detail.connected;
    if (type === 'inbox' && detail.unread !== undefined) this.inbox.unread = detail.unread;
    this.#emit(type, detail);
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }

  // The end

  #hangUp() {
    this.#line?.abort();
    this.#socket?.close();
    this.#isConnected = false;
  }

  #leave() {
    this.#hangUp();
    if (this.channelId) this.#event('app_background', {}).then(() => this.#flush(true)).catch(() => {});
  }

  #end() {
    this.#stop.abort();
    this.#hangUp();
    this.channelId = this.#user = undefined;
    clearTimeout(this.#timer);
  }

  async consent(given) {
    if (!given) return this.forget();
    await this.#state.put('consent', true);
    this.#consent();
    await this.#start;
  }

  async forget() {
    await (await this.#subscription())?.unsubscribe();
    const id = this.channelId;
    const remove = () => this.#secret().then((own) => this.#send('DELETE', `/api/channels/${id}`, undefined, own));
    // What is on its way arrives before the channel is deleted, and nothing is sent after.
    if (id) await this.#alone('queue', {}, () => remove().catch(this.#fail).then(() => this.#state.clear()));
    else await this.#state.clear();
    this.#tell({ type: 'forgotten' });
  }
}
