// What has to compile if the written types of the SDK are those of its code. Run by scripts/types, which puts both beside it.

import { Aerogram as Written } from './written/aerogram.js';
import { Aerogram as Real } from './real/aerogram.js';
import { Aerogram as Packed } from 'aerogram-web';
import 'aerogram-web/ui';

/** The written ones are stricter: each event has its own detail. */
type Events = 'addEventListener' | 'removeEventListener' | 'dispatchEvent';

/** Everything that is written is there. */
export const has = (real: Real): Omit<Written, Events> => real;
export const begins: (options: Parameters<typeof Written.init>[0]) => Promise<unknown> = Real.init;

/** Everything that is there is written: a name that is not is in the message of the compiler. */
type Untold = Exclude<keyof Real, keyof Written>;
export const told: [Untold] extends [never] ? true : Untold = true;

/** What people write, and what they must not. */
export async function use() {
  const push = await Written.init({ url: 'https://push.example.com', appKey: 'KEY', prompt: { visits: 2 } });
  push.addEventListener('message', ({ detail }) => detail.push.alert?.length);
  push.addEventListener('click', ({ detail }) => detail.button?.length);
  await push.setAttributes({ plan: 'gold', since: new Date(), trial: null });
  push.addEventListener('message', ({ detail }) => void push.clicked(detail.push.push_id, { button: 'yes' }));
  await Written.init({ url: 'https://push.example.com', appKey: 'KEY', worker: navigator.serviceWorker.register('/sw.js') });
  // @ts-expect-error: the key is needed.
  await Written.init({ url: 'https://push.example.com' });
  // @ts-expect-error: an attribute is no list.
  await push.setAttributes({ plan: ['gold'] });
}

/** The ready-made parts, from the package. */
export async function show() {
  const push = await Packed.init({ url: 'https://push.example.com', appKey: 'KEY' });
  for (const part of document.querySelectorAll('aerogram-prompt, aerogram-bell')) console.log(part.id);
  document.createElement('aerogram-inbox').push = push;
  // @ts-expect-error: a part shows an Aerogram.
  document.createElement('aerogram-bell').push = 'KEY';
}
