// The channel of this browser: made once for all tabs, registered again when something about it has changed, and asking the service
// in its name until it is forgotten.

const DAY = 86_400_000;
const LONGEST_REQUEST = 30_000;
// The service's own numbers: a proxy in between answers 401, 404 and 409 as well, which say nothing about a channel.
const [REFUSED, NOT_FOUND, CONFLICT] = [40100, 40401, 40900];

const makeChannel = (tab, options, subscription) => {
  const { page, state } = tab;
  const { url, appKey, live } = options;
  const requests = new Set();
  const secret = (channel) => secretOf(appKey, channel);

  const ask = async (method, path, body, headers, keepalive) => {
    const request = new AbortController();
    requests.add(request);
    const timer = setTimeout(() => request.abort(), LONGEST_REQUEST);
    try {
      return await send(url, method, path, body, { headers, keepalive, signal: request.signal });
    } finally {
      clearTimeout(timer);
      requests.delete(request);
    }
  };

  const describe = async () => {
    const [language, country] = navigator.language.split('-');
    const { endpoint, keys } = (await subscription.get())?.toJSON() ?? {};
    return {
      device_type: 'web', opt_in: Boolean(endpoint) || live, live, push_address: endpoint ?? null,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone, locale_language: language,
      ...(country?.length === 2 && { locale_country: country }), ...(endpoint && { web: { subscription: keys } }),
    };
  };

  const create = async () => {
    // The same for all tries, so that a lost answer does not leave a second channel behind.
    const { key, channel } = await tab.once('creation', async () => ({ key: uuid(), channel: await describe() }));
    const headers = { 'X-UA-App-Key': appKey, 'Idempotency-Key': key };
    const { channel_id: id, channel_secret: secret } = await ask('POST', '/api/web-channels', { channel }, headers)
      .catch(async (error) => {
        if (!passes(error)) await state.put('creation');
        throw error;
      });
    await state.put('creation');
    await state.put('registered', { text: JSON.stringify(channel), id, at: Date.now() });
    return { id, secret };
  };

  // The one of this browser, or a new one if there is none, or if this one is gone.
  const find = (gone) => tab.alone('channel', async () => {
    let channel = await state.get('channel');
    // Another tab may have forgotten it, and not said so yet.
    if (tab.signal.aborted || (!channel && page.channelId)) throw forgotten();
    if (!channel || channel.id === gone) {
      channel = await create();
      await Promise.all(['inbox', 'at', 'user'].map((key) => state.put(key)));
      await state.put('channel', channel);
      tab.tell({ type: 'registered', channelId: channel.id });
      if (gone) tab.tell({ type: 'user' });
    }
    page.channelId = channel.id;
    return channel;
  });

  // The channel and a token of it. A channel whose secret the service refuses is gone.
  const token = async (gone) => {
    const channel = await find(gone);
    const kept = await state.get('token');
    if (kept?.id === channel.id && kept.ends - Date.now() > 60_000) return { ...channel, token: kept.text };
    try {
      const { token: text, expires_in: left } = await ask('GET', '/api/auth/device', undefined, secret(channel));
      await state.put('token', { text, id: channel.id, ends: Date.now() + left });
      return { ...channel, token: text };
    } catch (error) {
      if (gone || error.code !== REFUSED) throw error;
      return token(channel.id);
    }
  };

  // In the name of the channel. What the service does not accept is tried again with a new token, or as a new channel.
  const call = async (method, path, body, { headers, how, keepalive } = {}) => {
    for (let tries = 0; ; tries++) {
      const channel = await token();
      try {
        const own = how === 'secret' ? secret(channel) : { Authorization: `Bearer ${channel.token}` };
        const about = typeof body === 'function' ? body(channel.id) : body;
        return await ask(method, path.replace('{id}', channel.id), about, { ...own, ...headers }, keepalive);
      } catch (error) {
        if (tries > 1 || ![REFUSED, NOT_FOUND, CONFLICT].includes(error.code)) throw error;
        await state.put('token');
        const { id } = await token();
        if (id === channel.id && error.code !== REFUSED) throw error;
      }
    }
  };

  return {
    ask, call, find, token,
    async ready(isStart) {
      if (!isStart) await tab.start;
      if (tab.signal.aborted) throw forgotten();
      if (!page.channelId) await find();
    },
    // Nothing is sent when nothing has changed, except once a day.
    async register() {
      const channel = await describe();
      const [text, last] = [JSON.stringify(channel), await state.get('registered')];
      if (last?.text === text && last.id === page.channelId && Date.now() - last.at < DAY) return;
      await call('PUT', '/api/channels/{id}', { channel });
      await state.put('registered', { text, id: page.channelId, at: Date.now() });
    },
    // What is under way is given up.
    hurry: () => requests.forEach((request) => request.abort()),
    // The browser keeps only what the service is still to be told.
    forget: (begun) => tab.alone('queue', () => tab.alone('channel', async () => {
      begun();
      const [channel, gone] = [await state.get('channel'), await state.get('gone')];
      await Promise.all(['state', 'queue'].map((name) => done(state.store(name).clear())));
      await state.put('gone', channel ?? gone);
    })),
    // The one that was forgotten. If that does not work now, the next page tries again.
    async uninstall() {
      const gone = await state.get('gone');
      if (!gone) return;
      await ask('DELETE', `/api/channels/${gone.id}`, undefined, secret(gone)).catch((error) => {
        if (passes(error)) throw error;
      });
      await state.put('gone');
    },
  };
};
