// What a browser keeps of an app, in IndexedDB: pages and their worker both have this part, and read and write the same.

const MOST_QUEUED = 500;
const MOST_SEEN = 100;

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

class State {
  static async open(appKey) {
    const opening = indexedDB.open(`aerogram-${appKey}`, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore('state');
      opening.result.createObjectStore('queue', { autoIncrement: true });
    };
    return Object.assign(new State(), { db: await done(opening) });
  }

  store(name, mode = 'readwrite') { return this.db.transaction(name, mode).objectStore(name); }

  get(key) { return done(this.store('state', 'readonly').get(key)); }

  // Without a value it is forgotten. A page that is left does not live long enough to commit by itself.
  put(key, value) {
    const state = this.store('state');
    const kept = done(state.put(value, key));
    state.transaction.commit();
    return kept;
  }

  // What waits for the service. With `isOfChannel` only where there still is one: of a browser that was forgotten nothing is kept.
  async add(item, isOfChannel) {
    const both = this.db.transaction(['state', 'queue'], 'readwrite');
    const queue = both.objectStore('queue');
    if (isOfChannel && !await done(both.objectStore('state').get('channel'))) return;
    await done(queue.add(item));
    if (await done(queue.count()) > MOST_QUEUED) (await done(queue.openCursor())).delete();
  }

  // Whether a page was told of a push, live or by web push. It is noted for the next time.
  async isSeen(id) {
    const state = this.store('state');
    const seen = await done(state.get('seen')) ?? [];
    if (seen.includes(id)) return true;
    if (id) await done(state.put([...seen, id].slice(-MOST_SEEN), 'seen'));
    return false;
  }
}
