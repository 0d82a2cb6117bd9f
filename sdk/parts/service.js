// How the service is asked, and what its refusals mean: pages and their worker both have this part.

// The service's own number for a path that it does not know.
const NO_PATH = 40400;

const uuid = () => crypto.randomUUID();
const basic = (name, secret) => `Basic ${btoa(`${name}:${secret}`)}`;
const secretOf = (appKey, { id, secret }) => ({ 'X-UA-App-Key': appKey, Authorization: basic(id, secret) });
const happened = (type, data, at = Date.now()) => ({ type, event_id: uuid(), time: (at / 1000).toFixed(3), data });
const lost = ({ message: text }) => { throw Object.assign(new Error(text), { status: 0 }); };

// Whether it may be taken later. An answer without a number of the service is a proxy's, and says nothing but that something is too
// large for whatever stands in between.
const passes = ({ status, code }) => !status || (!code && status !== 413) || code === NO_PATH || status === 429 || status >= 500;

// The answer, or an error with its status, which is 0 if there is none.
const send = async (service, method, path, body, { headers, ...more }) => {
  const content = body && { 'Content-Type': 'application/json' };
  const answer = await fetch(service + path, {
    method, body: body && JSON.stringify(body), credentials: 'omit', ...more,
    // Clocks of devices differ, and the service puts times right by this.
    headers: { 'X-UA-Sent-At': Date.now() / 1000, ...content, ...headers },
  }).catch(lost);
  // One that breaks off is none: what it was to say would be missing from what is kept.
  const told = await answer.json().catch((error) => (error.name === 'SyntaxError' ? {} : lost(error)));
  if (answer.ok) return told;
  const { status } = answer;
  const retryAfter = answer.headers.get('Retry-After') * 1000;
  throw Object.assign(new Error(told.error ?? `${method} ${path}: ${status}`), { status, code: told.error_code, retryAfter });
};
