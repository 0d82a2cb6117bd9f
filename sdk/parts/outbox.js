// What the browser says about itself: kept until the service has it, and sent together.

const MOST_AT_ONCE = 100;
const LONGEST_WAIT = 300_000;

const backOff = (tries, least = 1000) => Math.random() * Math.min(LONGEST_WAIT, least * 2 ** tries) + least / 2;

const makeOutbox = (tab, channel) => {
  const { state } = tab;
  let [timer, tries] = [undefined, 0];
  const later = (time) => { if (!tab.signal.aborted) timer ??= setTimeout(() => flush(), time); };
  const stop = () => { timer = clearTimeout(timer); };

  const deliver = async (items, keepalive) => {
    const all = (key) => items.flatMap((item) => item[key] ?? []);
    const call = (...what) => channel.call(...what, { keepalive });
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
      if (!middle) return tab.fail(error);
      for (const half of [items.slice(0, middle), items.slice(middle)]) await deliver(half, keepalive);
    }
  };

  const flush = async (keepalive = false) => {
    stop();
    try {
      // Before the lock: a tab that waits for consent must not hold it.
      await channel.ready();
      await tab.alone('queue', async (lock) => {
        if (!lock) return later(1000);
        for (let sent = MOST_AT_ONCE; sent === MOST_AT_ONCE;) {
          const queue = state.store('queue');
          const first = [queue.getAllKeys(null, MOST_AT_ONCE), queue.getAll(null, MOST_AT_ONCE)];
          const [keys, items] = await Promise.all(first.map(done));
          await deliver(items, keepalive);
          const delivered = state.store('queue');
          await Promise.all(keys.map((key) => done(delivered.delete(key))));
          sent = keys.length;
        }
        tries = 0;
      }, { ifAvailable: !keepalive });
    } catch (error) {
      if (tab.signal.aborted) return;
      tab.fail(error);
      // Also where something was added meanwhile.
      stop();
      later(error.retryAfter || backOff(tries++));
    }
  };

  return {
    flush, stop,
    async add(item) {
      if (tab.signal.aborted) return;
      await state.add(item);
      later(200);
    },
  };
};
