// Sessions: what one person does on pages and tabs without a long pause.

const [HALF_AN_HOUR, MINUTE] = [1_800_000, 60_000];

// How many there were is told to `begun`, on every page and when another one begins.
const makeSessions = (tab, outbox, begun) => {
  const { page, state } = tab;
  // What a page says before its first session has begun is of that one.
  let own = uuid();
  const event = (type, data, at) => outbox.add({ event: happened(type, { session_id: own, ...data }, at) });

  // A session goes on over pages and tabs until nobody has looked at one for half an hour, or a notification was clicked. Its end
  // is told by the next one: nobody knows before.
  const visit = (isStart) => tab.alone('visit', async () => {
    if (tab.signal.aborted) return;
    const keys = ['session', 'active', 'click', 'visits'];
    let [id, active, click, visits = 0] = await Promise.all(keys.map((key) => state.get(key)));
    const now = Date.now();
    const tapped = now - click?.at < MINUTE && { push_id: click.push };
    const isNew = tapped || !(id && Math.abs(now - active) < HALF_AN_HOUR);
    if (isNew) {
      if (id) await event('app_background', { session_id: id }, active);
      id = isStart ? own : uuid();
      await Promise.all([state.put('session', id), state.put('visits', visits += 1), state.put('click')]);
    }
    await state.put('active', now);
    own = id;
    // No later than the last look, which may be the end.
    if (isNew) await event('app_foreground', { ...tapped, time_zone: String(-new Date().getTimezoneOffset() * 60) }, now);
    if (isNew || isStart) begun(visits);
  });

  return {
    event,
    // From now on it is noted when somebody looks at the page.
    async begin() {
      const { signal } = tab;
      await visit(true);
      const look = () => (document.hidden ? state.put('active', Date.now()) : visit()).catch(tab.fail);
      document.addEventListener('visibilitychange', look, { signal });
      const visible = () => document.hidden || look();
      // For the pages that begin meanwhile, and for what ends without a word.
      const watch = setInterval(() => (signal.aborted ? clearInterval(watch) : visible()), MINUTE);
      // A page that is visible already is not shown again by the click of a notification.
      page.addEventListener('click', visible, { signal });
      addEventListener('pageshow', ({ persisted }) => persisted && look(), { signal });
    },
    end() { own = uuid(); },
  };
};
