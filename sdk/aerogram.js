// Aerogram for web pages: makes a browser a channel, keeps what it says about itself until the service has it, and tells what it is
// sent. No dependencies, no build step: what is served is this file with the parts after it that the service worker
// (aerogram-sw.js) has as well. State is in IndexedDB, where the worker reads it. See docs/sdk.md.

const [DAY, HALF_AN_HOUR, MINUTE] = [86_400_000, 1_800_000, 60_000];
const MOST_AT_ONCE = 100;
const LONGEST_WAIT = 300_000;
const LONGEST_REQUEST = 30_000;
// In seconds, until the service has told how often it pings.
const PING = 45;
// A connection on which so many questions are not answered is dead.
const MOST_UNANSWERED = 2;
// For what is under way when the channel is forgotten.
const LAST_WAIT = 2000;
// The service's own numbers: a proxy in between answers 401, 404 and 409 as well, which say nothing about a channel.
const [REFUSED, NOT_FOUND, CONFLICT] = [40100, 40401, 40900];

// Pages with a policy about script addresses allow the name 'aerogram'.
let trusted;
const backOff = (tries, least = 1000) => Math.random() * Math.min(LONGEST_WAIT, least * 2 ** tries) + least / 2;
// As the service writes keys.
const written = (key) => btoa(String.fromCharCode(...new Uint8Array(key))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
// Only a worker that is active can subscribe, and one that cannot be installed never is.
const active = async (registration) => {
  while (!registration.active) {
    const worker = registration.installing ?? registration.waiting;
    if (!worker || worker.state === 'redundant') throw new Error('The service worker could not be installed.');
    await new Promise((changed) => worker.addEventListener('statechange', changed, { once: true }));
  }
  return registration;
};
const forgotten = () => new Error('This channel was forgotten.');
const one = (id) => `/message/${encodeURIComponent(id)}`;
const message = ({ message_id: id, title, message: body, content_type: type, message_sent: sent, unread, extra }) => (
  { id, title, body, type, sent: new Date(`${sent}Z`), unread, extra }
);

export class Aerogram extends EventTarget {
  #options; #name; #state; #url; #consent; #start; #timer; #tries = 0; #tabs; #socket; #line; #drop;
  #prompting; #stop; #requests = new Set(); #session = uuid(); #fail = (error) => this.#emit('error', { error });

  channelId;
  namedUser;
  connected = false;
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
    if (!isSecureContext) throw new Error('Aerogram needs https: browsers have what it uses on https:// pages, and on http://localhost, only.');
    return new Aerogram(options).#open();
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

  async #open() {
    this.#state = await State.open(this.#options.appKey);
    this.namedUser = await this.#state.get('user');
    this.channelId = (await this.#state.get('channel'))?.id;
    this.#tabs = new BroadcastChannel(this.#name);
    this.#tabs.onmessage = ({ data }) => this.#hear(data);
    await this.#wait();
    this.#uninstall().catch(this.#fail);
    if (this.#options.consent !== 'required' || await this.#state.get('consent')) {
      this.#consent();
      await this.#start.catch(() => {});
    }
    return this;
  }

  // For consent, at first and again after the channel was forgotten.
  #wait() {
    const { signal } = this.#stop = new AbortController();
    this.#start = new Promise((resolve) => { this.#consent = resolve; }).then(() => this.#begin());
    this.#start.catch(this.#fail);
    const { appKey } = this.#options;
    // Workers of all apps speak to the pages of an origin. Those of an earlier version do not say which is theirs.
    const heed = ({ data }) => data?.aerogram && (data.app ?? appKey) === appKey && this.#hear(data.aerogram);
    navigator.serviceWorker?.addEventListener('message', heed, { signal });
    addEventListener('online', () => this.#flush(), { signal });
    addEventListener('offline', () => this.#drop?.(), { signal });
    addEventListener('pagehide', () => this.#leave(), { signal });
    return this.#state.put('service', { url: this.#url, appKey });
  }

  async #begin() {
    const { signal } = this.#stop;
    if (signal.aborted) throw forgotten();
    if (this.#options.worker && (await this.#state.get('push'))) await this.#worker().catch(this.#fail);
    await this.#ready(true).then(() => this.#register()).catch(this.#fail);
    await this.#visit(true);
    const look = () => (document.hidden ? this.#state.put('active', Date.now()) : this.#visit()).catch(this.#fail);
    document.addEventListener('visibilitychange', look, { signal });
    const visible = () => document.hidden || look();
    // For the pages that begin meanwhile, and for what ends without a word.
    const watch = setInterval(() => (signal.aborted ? clearInterval(watch) : visible()), MINUTE);
    // A page that is visible already is not shown again by the click of a notification.
    this.addEventListener('click', visible, { signal });
    addEventListener('pageshow', ({ persisted }) => {
      if (!persisted) return;
      if (this.#line) this.#follow();
      look();
    }, { signal });
    if (this.#options.live) this.#follow();
  }

  // A session goes on over pages and tabs until nobody has looked at one for half an hour, or a notification was clicked. Its end is
  // told by the next one: nobody knows before.
  #visit(isStart) {
    return this.#alone('visit', async () => {
      if (this.#stop.signal.aborted) return;
      const keys = ['session', 'active', 'click', 'visits'];
      let [id, active, click, visits = 0] = await Promise.all(keys.map((key) => this.#state.get(key)));
      const now = Date.now();
      const tapped = now - click?.at < MINUTE && { push_id: click.push };
      const isNew = tapped || !(id && Math.abs(now - active) < HALF_AN_HOUR);
      if (isNew) {
        if (id) await this.#event('app_background', { session_id: id }, active);
        // What a page has said before is of its first session.
        id = isStart ? this.#session : uuid();
        await Promise.all([this.#state.put('session', id), this.#state.put('visits', visits += 1), this.#state.put('click')]);
      }
      await this.#state.put('active', now);
      this.#session = id;
      // No later than the last look, which may be the end.
      if (isNew) await this.#event('app_foreground', { ...tapped, time_zone: String(-new Date().getTimezoneOffset() * 60) }, now);
      if (isNew || isStart) this.#prompt(visits);
    });
  }

  async #ready(isStart) {
    if (!isStart) await this.#start;
    if (this.#stop.signal.aborted) throw forgotten();
    if (!this.channelId) await this.#channel();
  }

  // One tab at a time.
  #alone(what, work, options = {}) { return navigator.locks.request(`${this.#name}-${what}`, options, work); }

  // What is made once and kept, by one tab for all of them.
  #once(key, make) {
    return this.#alone(key, async () => {
      let kept = await this.#state.get(key);
      if (!kept) await this.#state.put(key, kept = await make());
      return kept;
    });
  }

  // The channel of this browser: a new one if there is none, or if this one is gone.
  #channel(gone) {
    return this.#alone('channel', async () => {
      let channel = await this.#state.get('channel');
      // Another tab may have forgotten it, and not said so yet.
      if (this.#stop.signal.aborted || (!channel && this.channelId)) throw forgotten();
      if (!channel || channel.id === gone) {
        channel = await this.#create();
        await Promise.all(['inbox', 'at', 'user'].map((key) => this.#state.put(key)));
        await this.#state.put('channel', channel);
        this.#tell({ type: 'registered', channelId: channel.id });
        if (gone) this.#tell({ type: 'user' });
      }
      this.channelId = channel.id;
      return channel;
    });
  }

  async #create() {
    // The same for all tries, so that a lost answer does not leave a second channel behind.
    const { key, channel } = await this.#once('creation', async () => ({ key: uuid(), channel: await this.#facts() }));
    const headers = { 'X-UA-App-Key': this.#options.appKey, 'Idempotency-Key': key };
    const { channel_id: id, channel_secret: secret } = await this.#send('POST', '/api/web-channels', { channel }, headers)
      .catch(async (error) => {
        if (!passes(error)) await this.#state.put('creation');
        throw error;
      });
    await this.#state.put('creation');
    await this.#state.put('registered', { text: JSON.stringify(channel), id, at: Date.now() });
    return { id, secret };
  }

  async #facts() {
    const [language, country] = navigator.language.split('-');
    const { endpoint, keys } = (await this.#subscription())?.toJSON() ?? {};
    const { live } = this.#options;
    return {
      device_type: 'web', opt_in: Boolean(endpoint) || live, live, push_address: endpoint ?? null,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, locale_language: language,
      ...(country?.length === 2 && { locale_country: country }), ...(endpoint && { web: { subscription: keys } }),
    };
  }

  // Nothing is sent when nothing has changed, except once a day.
  async #register() {
    const facts = await this.#facts();
    const [text, last] = [JSON.stringify(facts), await this.#state.get('registered')];
    if (last?.text === text && last.id === this.channelId && Date.now() - last.at < DAY) return;
    await this.#call('PUT', '/api/channels/{id}', { channel: facts });
    await this.#state.put('registered', { text, id: this.channelId, at: Date.now() });
  }

  async #send(method, path, body, headers, keepalive) {
    const request = new AbortController();
    this.#requests.add(request);
    const timer = setTimeout(() => request.abort(), LONGEST_REQUEST);
    try {
      return await send(this.#url, method, path, body, { headers, keepalive, signal: request.signal });
    } finally {
      clearTimeout(timer);
      this.#requests.delete(request);
    }
  }

  #secret(channel) { return secretOf(this.#options.appKey, channel); }

  // The channel and a token of it. A channel whose secret the service refuses is gone.
  async #token(gone) {
    const channel = await this.#channel(gone);
    const kept = await this.#state.get('token');
    if (kept?.id === channel.id && kept.ends - Date.now() > 60_000) return { ...channel, token: kept.text };
    try {
      const { token, expires_in: left } = await this.#send('GET', '/api/auth/device', undefined, this.#secret(channel));
      await this.#state.put('token', { text: token, id: channel.id, ends: Date.now() + left });
      return { ...channel, token };
    } catch (error) {
      if (gone || error.code !== REFUSED) throw error;
      return this.#token(channel.id);
    }
  }

  // As the channel of this browser. What the service does not accept is tried again with a new token, or as a new channel.
  async #call(method, path, body, { headers, how, keepalive } = {}) {
    for (let tries = 0; ; tries++) {
      const channel = await this.#token();
      try {
        const own = how === 'secret' ? this.#secret(channel) : { Authorization: `Bearer ${channel.token}` };
        const about = typeof body === 'function' ? body(channel.id) : body;
        return await this.#send(method, path.replace('{id}', channel.id), about, { ...own, ...headers }, keepalive);
      } catch (error) {
        if (tries > 1 || ![REFUSED, NOT_FOUND, CONFLICT].includes(error.code)) throw error;
        await this.#state.put('token');
        const { id } = await this.#token();
        if (id === channel.id && error.code !== REFUSED) throw error;
      }
    }
  }

  // Notifications of this browser

  // The script and the scope of a worker that the SDK registers.
  #place() {
    const { worker, scope, appKey } = this.#options;
    const script = new URL(worker, location.href);
    script.searchParams.set('app', appKey);
    return { script, scope: new URL(scope ?? './', scope ? location.href : script).href };
  }

  // That of the page, or the one with just the scope of a worker of the SDK: others may cover the page.
  async #registration() {
    const worker = await this.#options.worker;
    if (!worker || worker.scope) return worker;
    const { scope } = this.#place();
    const found = await navigator.serviceWorker?.getRegistration(scope);
    return found?.scope === scope ? found : undefined;
  }

  async #worker() {
    const given = await this.#options.worker;
    if (given.scope) return active(given);
    const { script, scope } = this.#place();
    trusted ??= globalThis.trustedTypes?.createPolicy('aerogram', { createScriptURL: (url) => url });
    const url = trusted?.createScriptURL(script.href) ?? script.href;
    return active(await navigator.serviceWorker.register(url, { scope, updateViaCache: 'none' }));
  }

  // The one that enablePush has made, and nobody else's. If the page could not register its worker now, it is known by its key.
  async #subscription() {
    const key = await this.#state.get('push');
    if (!key) return null;
    try {
      return await (await this.#registration())?.pushManager?.getSubscription();
    } catch {
      const all = await navigator.serviceWorker?.getRegistrations() ?? [];
      const found = await Promise.all(all.map(({ pushManager }) => pushManager?.getSubscription()));
      return found.find((one) => one && written(one.options.applicationServerKey) === key);
    }
  }

  async enablePush() {
    // First, because browsers ask only right after a click.
    const permission = globalThis.Notification ? await Notification.requestPermission() : 'denied';
    this.#emit('permission', { permission });
    if (permission !== 'granted') return permission;
    await this.#ready();
    const { pushManager } = await this.#worker();
    const { public_key: key, configured } = await this.#call('GET', '/api/platforms/web/vapid');
    const asked = { userVisibleOnly: true, applicationServerKey: key };
    await pushManager.subscribe(asked).catch(async () => {
      // One that was made with another key is in the way.
      await (await pushManager.getSubscription())?.unsubscribe();
      return pushManager.subscribe(asked);
    });
    // The worker subscribes with it when the browser drops the subscription.
    await this.#state.put('push', key);
    await this.#register();
    if (configured === false) {
      const command = `aerogram platform set ${this.#options.appKey} webpush --subject mailto:you@example.com`;
      this.#fail(new Error(`Web push is not set up for this app, so no notification will come. Its operator does it by: ${command}`));
    }
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
    if (!prompt) return;
    const { visits: least = 1, seconds = 0, againAfterDays = 30 } = prompt;
    const isLate = Date.now() - (await this.#state.get('dismissed') ?? 0) > againAfterDays * DAY;
    if (visits < least || this.permission !== 'default' || !isLate) return;
    clearTimeout(this.#prompting);
    this.#prompting = setTimeout(() => this.#emit('prompt', {
      accept: () => this.enablePush(), dismiss: () => this.#state.put('dismissed', Date.now()),
    }), seconds * 1000);
  }

  // The inbox has a user and a password of its own.
  async #ask(method, path, isAgain) {
    await this.#ready();
    const { id, password } = await this.#once('inbox', async () => {
      const made = await this.#call('POST', '/api/user', (channel) => ({ web_channels: [channel] }));
      return { id: made.user_id, password: made.password };
    });
    try {
      return await this.#send(method, `/api/user/${id}/messages${path}`, undefined, { Authorization: basic(id, password) });
    } catch (error) {
      if (error.code !== REFUSED || isAgain) throw error;
      if ((await this.#state.get('inbox'))?.id === id) await this.#state.put('inbox');
      return this.#ask(method, path, true);
    }
  }

  // Who somebody is

  async #contact(action, headers) {
    await this.#ready();
    const about = { device_info: { device_type: 'web' }, action };
    await this.#call('POST', '/api/contacts/identify/v2', about, { how: 'secret', headers });
    const user = action.named_user_id;
    await this.#state.put('user', user);
    this.#tell({ type: 'user', user });
  }

  async identify(user, proof) {
    // Another tab may have changed it, and not said so yet.
    if (user === await this.#state.get('user')) return;
    await this.#contact({ type: 'identify', named_user_id: user }, proof && { 'X-UA-Named-User-Proof': proof });
  }

  reset() { return this.#contact({ type: 'reset' }); }

  // What is kept and sent together

  addTags(tags, group) { return this.#tag('add', tags, group); }
  removeTags(tags, group) { return this.#tag('remove', tags, group); }
  #tag(kind, tags, group = 'device') { return this.#queue({ tags: [].concat(tags).map((tag) => ({ kind, group, tag })) }); }
  setAttributes(values) {
    const plain = (value) => (value instanceof Date ? value.toISOString().slice(0, 19) : value);
    const change = ([key, value]) => (value === null ? { action: 'remove', key } : { action: 'set', key, value: plain(value) });
    return this.#queue({ attributes: Object.entries(values).map(change) });
  }
  subscribe(list) { return this.#queue({ lists: { action: 'subscribe', list_id: list } }); }
  unsubscribe(list) { return this.#queue({ lists: { action: 'unsubscribe', list_id: list } }); }
  track(name, { value, ...properties } = {}) {
    return this.#event('enhanced_custom_event', {
      event_name: name, properties, ...(value === undefined ? {} : { event_value: String(Math.round(value * 1e6)) }),
    });
  }

  // What becomes of a push that a page shows itself. The worker tells of its notifications.
  clicked(push, { button } = {}) { return this.#event('push_click', { push_id: push, ...(button && { button_id: button }) }); }
  dismissed(push) { return this.#event('push_dismiss', { push_id: push }); }

  #event(type, data, at = Date.now()) {
    return this.#queue({ event: happened(type, { session_id: this.#session, ...data }, at) });
  }

  async #queue(item) {
    if (this.#stop.signal.aborted) return;
    await this.#state.add(item);
    this.#later(200);
  }

  #later(time) { if (!this.#stop.signal.aborted) this.#timer ??= setTimeout(() => this.#flush(), time); }

  async #flush(keepalive = false) {
    this.#timer = clearTimeout(this.#timer);
    try {
      // Before the lock: a tab that waits for consent must not hold it.
      await this.#ready();
      await this.#alone('queue', async (lock) => {
        if (!lock) return this.#later(1000);
        for (let sent = MOST_AT_ONCE; sent === MOST_AT_ONCE;) {
          const queue = this.#state.store('queue');
          const first = [queue.getAllKeys(null, MOST_AT_ONCE), queue.getAll(null, MOST_AT_ONCE)];
          const [keys, items] = await Promise.all(first.map(done));
          await this.#deliver(items, keepalive);
          const delivered = this.#state.store('queue');
          await Promise.all(keys.map((key) => done(delivered.delete(key))));
          sent = keys.length;
        }
        this.#tries = 0;
      }, { ifAvailable: !keepalive });
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#fail(error);
      // Also where something was added meanwhile.
      this.#timer = clearTimeout(this.#timer);
      this.#later(error.retryAfter || backOff(this.#tries++));
    }
  }

  async #deliver(items, keepalive) {
    const all = (key) => items.flatMap((item) => item[key] ?? []);
    const call = (...what) => this.#call(...what, { keepalive });
    const [events, batches] = [all('event'), [{ attributes: all('attributes'), subscription_lists: all('lists') }]];
    // Of a tag that was added and removed only the last counts.
    const last = new Map(all('tags').map((one) => [JSON.stringify([one.group, one.tag]), one]));
    for (const { kind, group, tag } of last.values()) {
      let batch = batches.find(({ tags }) => !(tags?.[kind]?.[group]?.length >= MOST_AT_ONCE));
      if (!batch) batches.push(batch = {});
      (((batch.tags ??= {})[kind] ??= {})[group] ??= []).push(tag);
    }
    try {
      for (const batch of batches) {
        if (Object.values(batch).some(({ length }) => length !== 0)) await call('PUT', '/api/channels/sdk/batch/{id}', batch);
      }
      if (events.length) await call('POST', '/api/web-events', events);
    } catch (error) {
      if (passes(error)) throw error;
      // What the service refuses it refuses again, and not what only came with it.
      const middle = items.length >> 1;
      if (!middle) return this.#fail(error);
      for (const half of [items.slice(0, middle), items.slice(middle)]) await this.#deliver(half, keepalive);
    }
  }

  // The live connection, which one tab has for all of them

  #follow() {
    const { signal } = this.#line = new AbortController();
    // A page that is left may be kept by the browser as it is, and must not keep the others waiting.
    const left = new Promise((resolve) => { signal.addEventListener('abort', resolve); });
    this.#alone('live', () => Promise.race([this.#lead(signal), left]), { signal }).catch(() => {});
    this.#tabs.postMessage({ type: 'status?' });
  }

  async #lead(signal) {
    for (let tries = 0; !signal.aborted; tries++) {
      const { code, retry, lasted, id } = await this.#connect(signal).catch(() => ({}));
      if (signal.aborted) return;
      this.#status(false);
      if (code === 4403) return;
      if (code === 4401) await this.#state.put('token');
      if (code === 4410) await this.#channel(id).catch(() => {});
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

  async #connect(signal) {
    const [{ id, token }, at] = [await this.#token(), await this.#state.get('at')];
    // Nobody would close it.
    if (signal.aborted) return {};
    const query = at ? `?after=${encodeURIComponent(at)}` : '';
    const socket = new WebSocket(`${this.#url.replace(/^http/, 'ws')}/live${query}`, ['aerogram.live.1', `token.${token}`]);
    this.#socket = socket;
    const began = Date.now();
    let [retry, work, acked, watch, silence] = [undefined, Promise.resolve(), false, undefined, 0];
    const ack = () => {
      acked = false;
      this.#state.get('at').then((ack) => socket.readyState === 1 && socket.send(JSON.stringify({ ack })));
    };
    const { code } = await new Promise((end) => {
      socket.onclose = end;
      // The end of a dead connection is not waited for.
      this.#drop = () => { socket.onmessage = null; socket.close(); end({}); };
      // Pages cannot see the pings of the service, so they ask for themselves.
      const check = () => {
        if (silence++ === MOST_UNANSWERED) this.#drop();
        else if (socket.readyState === 1) socket.send('{}');
      };
      const checkEvery = (seconds) => {
        clearInterval(watch);
        watch = setInterval(check, seconds * 1000);
      };
      checkEvery(PING);
      socket.onmessage = ({ data }) => {
        const told = JSON.parse(data);
        silence = 0;
        if (told.type === 'hello') {
          checkEvery(told.ping);
          this.#status(true, told.complete);
        }
        if (told.type === 'bye') retry = told.retry;
        if (told.at) work = work.then(() => this.#take(told)).then(() => { acked ||= setTimeout(ack, 1000); });
        // What could not be kept is told again, and what comes after it is left until then.
        work.catch(() => socket.close());
      };
    });
    clearInterval(watch);
    await work;
    return { code, retry, lasted: Date.now() - began, id };
  }

  async #take({ type, at, push, unread }) {
    if (type === 'inbox') this.#tell({ type, unread });
    if (type === 'push' && !await this.#state.isSeen(push.push_id)) {
      this.#tell({ type: 'message', push });
      // Before the page has asked for its inbox, the service does not count what is in it.
      if (push._uamid && !await this.#state.get('inbox')) this.#tell({ type: 'inbox' });
    }
    await this.#state.put('at', at);
  }

  #status(isConnected, complete = true) {
    if (isConnected !== this.connected) this.#tell({ type: 'live', connected: isConnected });
    if (!complete) this.#tell({ type: 'inbox' });
  }

  #tell(news) {
    this.#tabs.postMessage(news);
    this.#hear(news);
  }

  #hear({ type, ...detail }) {
    if (this.#stop.signal.aborted) return;
    const isOpen = this.#socket?.readyState === WebSocket.OPEN;
    if (type === 'hurry') return this.#requests.forEach((request) => request.abort());
    if (type === 'status?') return void (isOpen && this.#tabs.postMessage({ type: 'live', connected: true }));
    if (type === 'consent') return this.#consent();
    if (type === 'forgotten') this.#end();
    if (type === 'live') this.connected = detail.connected;
    if (type === 'user') this.namedUser = detail.user;
    if (type === 'registered') this.channelId = detail.channelId;
    if (type === 'inbox' && detail.unread !== undefined) this.inbox.unread = detail.unread;
    this.#emit(type, detail);
    if (type === 'push' && detail.push._uamid && !this.connected) this.#emit('inbox', {});
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }

  // The end

  #hangUp() {
    this.#line?.abort();
    this.#drop?.();
    this.connected = false;
  }

  #leave() {
    this.#hangUp();
    if (this.channelId) this.#flush(true);
  }

  #end() {
    this.#stop.abort();
    this.#hangUp();
    this.channelId = this.namedUser = undefined;
    this.#session = uuid();
    this.#timer = clearTimeout(this.#timer);
    clearTimeout(this.#prompting);
  }

  async consent(given) {
    if (!given) return this.forget();
    if (this.#stop.signal.aborted) await this.#wait();
    await this.#state.put('consent', true);
    this.#tell({ type: 'consent' });
    await this.#start;
  }

  async forget() {
    // The channel ends whether or not that works, and soon.
    const unsubscribing = this.#subscription().then((one) => one?.unsubscribe()).catch(this.#fail);
    await Promise.race([unsubscribing, new Promise((resolve) => { setTimeout(resolve, LAST_WAIT); })]);
    // What is on its way arrives before, unless it takes too long, and nothing is sent after.
    const timer = setInterval(() => this.#tell({ type: 'hurry' }), LAST_WAIT);
    await this.#alone('queue', () => this.#alone('channel', async () => {
      clearInterval(timer);
      const [channel, gone] = [await this.#state.get('channel'), await this.#state.get('gone')];
      await Promise.all(['state', 'queue'].map((name) => done(this.#state.store(name).clear())));
      await this.#state.put('gone', channel ?? gone);
    }));
    this.#tell({ type: 'forgotten' });
    await this.#uninstall().catch(this.#fail);
  }

  // The channel that was forgotten. If that does not work now, the next page tries again.
  async #uninstall() {
    const gone = await this.#state.get('gone');
    if (!gone) return;
    await this.#send('DELETE', `/api/channels/${gone.id}`, undefined, this.#secret(gone)).catch((error) => {
      if (passes(error)) throw error;
    });
    await this.#state.put('gone');
  }
}
