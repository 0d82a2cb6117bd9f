// One tab among those of its browser: what one of them does at a time for all, what they tell each other, and how long it goes on,
// from consent until the channel is forgotten.

const forgotten = () => new Error('This channel was forgotten.');

// What is told to this tab goes to `hear`, and events to the page.
const makeTab = (page, state, appKey, hear) => {
  // Of its database, its locks and the channel between its tabs.
  const { name } = state.db;
  const others = new BroadcastChannel(name);
  let stop;
  const emit = (type, detail) => page.dispatchEvent(new CustomEvent(type, { detail }));
  const fail = (error) => emit('error', { error });
  // To the others only.
  const post = (news) => others.postMessage(news);
  const alone = (what, work, options = {}) => navigator.locks.request(`${name}-${what}`, options, work);
  const tab = {
    page, state, emit, fail, post, alone,
    tell(news) {
      post(news);
      if (!tab.signal.aborted) hear(news);
    },
    // What is made once and kept, by one tab for all of them.
    once: (key, make) => alone(key, async () => {
      let kept = await state.get(key);
      if (!kept) await state.put(key, kept = await make());
      return kept;
    }),
    // For consent, at first and again after the channel was forgotten, and begins then.
    wait(begin) {
      const { signal } = stop = new AbortController();
      tab.signal = signal;
      tab.start = new Promise((resolve) => { tab.consent = resolve; }).then(begin);
      tab.start.catch(fail);
      others.addEventListener('message', ({ data }) => hear(data), { signal });
      // Workers of all apps speak to the pages of an origin. Those of an earlier version do not say which is theirs.
      const heed = ({ data }) => data?.aerogram && (data.app ?? appKey) === appKey && hear(data.aerogram);
      navigator.serviceWorker?.addEventListener('message', heed, { signal });
    },
    end: () => stop.abort(),
  };
  return tab;
};
