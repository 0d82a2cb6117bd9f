// Parse Server on PostgreSQL, for `bench peers`. Its push adapter counts messages and sends none, so that it has less to do than
// for a user. Arguments: the URL of the database, and the folder of its socket.
const express = require('express');
const { ParseServer } = require('parse-server');

let sent = 0;
const adapter = {
  getValidPushTypes: () => ['android', 'ios'],
  send: async (_, devices) => {
    sent += devices.length;
    return devices.map(device => ({ device, transmitted: true }));
  },
};

async function main([databaseURI, host]) {
  const server = new ParseServer({
    appId: 'bench',
    masterKey: 'bench',
    serverURL: 'http://127.0.0.1/parse',
    databaseURI,
    databaseOptions: { host },
    push: { adapter },
    directAccess: true,
    logLevel: 'error',
    silent: true,
  });
  await server.start();
  const app = express();
  app.use('/parse', server.app);
  app.get('/sent', (_, answer) => answer.json({ sent }));
  const listener = app.listen(0, '127.0.0.1', () => console.log(`listening=127.0.0.1:${listener.address().port}`));
}

main(process.argv.slice(2)).catch(error => {
  console.error(error);
  process.exit(1);
});
