// The live connection, which one tab has for all of them.

// In seconds, until the service has told how often it pings.
const PING = 45;
// A connection on which so many questions are not answered is dead.
const MOST_UNANSWERED = 2;

// Until the time is over, the browser is online again, or nobody waits any more. Then neither timer nor listener is left.
const pause = (time, waiting) => new Promise((resolve) => {
  if (waiting.aborted) return resolve();
  const over = new AbortController();
  const { signal } = over;
  const end = () => {
    clearTimeout(timer);
    over.abort();
    resolve();
  };
  const timer = setTimeout(end, time);
  addEventListener('online', end, { signal });
  waiting.addEventListener('abort', end, { signal });
});

const makeLine = (tab, channel, url) => {
  const { page, state } = tab;
  let [following, socket, drop] = [];

  const status = (isConnected, complete = true) => {
    if (isConnected !== page.connected) tab.tell({ type: 'live', connected: isConnected });
    if (!complete) tab.tell({ type: 'inbox' });
  };

  const take = async ({ type, at, push, unread }) => {
    if (type === 'inbox') tab.tell({ type, unread });
    if (type === 'push' && !await state.isSeen(push.push_id)) {
      tab.tell({ type: 'message', push });
      // Before the page has asked for its inbox, the service does not count what is in it.
      if (push._uamid && !await state.get('inbox')) tab.tell({ type: 'inbox' });
    }
    await state.put('at', at);
  };

  const connect = async (signal) => {
    const [{ id, token }, at] = [await channel.token(), await state.get('at')];
    // Nobody would close it.
    if (signal.aborted) return {};
    const query = at ? `?after=${encodeURIComponent(at)}` : '';
    const own = new WebSocket(`${url.replace(/^http/, 'ws')}/live${query}`, ['aerogram.live.1', `token.${token}`]);
    socket = own;
    const began = Date.now();
    let [retry, work, acked, watch, silence] = [undefined, Promise.resolve(), false, undefined, 0];
    const ack = () => {
      acked = false;
      state.get('at').then((ack) => own.readyState === 1 && own.send(JSON.stringify({ ack })));
    };
    const { code } = await new Promise((end) => {
      own.onclose = end;
      // The end of a dead connection is not waited for.
      drop = () => { own.onmessage = null; own.close(); end({}); };
      // Pages cannot see the pings of the service, so they ask for themselves.
      const check = () => {
        if (silence++ === MOST_UNANSWERED) drop();
        else if (own.readyState === 1) own.send('{}');
      };
      const checkEvery = (seconds) => {
        clearInterval(watch);
        watch = setInterval(check, seconds * 1000);
      };
      checkEvery(PING);
      own.onmessage = ({ data }) => {
        const told = JSON.parse(data);
        silence = 0;
        if (told.type === 'hello') {
          checkEvery(told.ping);
          status(true, told.complete);
        }
        if (told.type === 'bye') retry = told.retry;
        if (told.at) work = work.then(() => take(told)).then(() => { acked ||= setTimeout(ack, 1000); });
        // What could not be kept is told again, and what comes after it is left until then.
        work.catch(() => own.close());
      };
    });
    clearInterval(watch);
    await work;
    return { code, retry, lasted: Date.now() - began, id };
  };

  const lead = async (signal) => {
    for (let tries = 0; !signal.aborted; tries++) {
      const { code, retry, lasted, id } = await connect(signal).catch(() => ({}));
      if (signal.aborted) return;
      status(false);
      if (code === 4403) return;
      if (code === 4401) await state.put('token');
      if (code === 4410) await channel.find(id).catch(() => {});
      if (lasted > 10_000) tries = 0;
      await pause(retry ?? backOff(tries, code === 4429 ? 30_000 : 500), signal);
    }
  };

  return {
    isOpen: () => socket?.readyState === WebSocket.OPEN,
    follow() {
      const { signal } = following = new AbortController();
      // A page that is left may be kept by the browser as it is, and must not keep the others waiting.
      const left = new Promise((resolve) => { signal.addEventListener('abort', resolve); });
      tab.alone('live', () => Promise.race([lead(signal), left]), { signal }).catch(() => {});
      tab.post({ type: 'status?' });
    },
    drop: () => drop?.(),
    hangUp() {
      following?.abort();
      drop?.();
    },
  };
};
