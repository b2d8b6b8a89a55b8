// Sessions of mysql2 and of MariaDB's connector for Node.js: HOST PORT USER PASSWORD SCHEMA FORM; encrypted if
// SESSIONS_ENCRYPT is there.
'use strict';
const [host, port, user, password, database, form] = process.argv.slice(2);
const encrypts = 'SESSIONS_ENCRYPT' in process.env;
// The proxy signs its own certificate.
const encryption = encrypts ? { ssl: { rejectUnauthorized: false } } : {};
const account = { host, port: Number(port), user, password, database, ...encryption };

async function refused(promise) {
  let error = null;
  await promise.catch((found) => { error = found; });
  if (error === null) throw new Error('it was not refused');
}

async function mysql2() {
  const driver = require('mysql2/promise');
  const one = await driver.createConnection({ ...account, charset: 'utf8mb4', multipleStatements: true });
  await one.query('INSERT INTO item VALUES (?, ?)', [51, 'caf\u00e9 \u{1f600}\r\n']);
  await one.execute('INSERT INTO item VALUES (?, ?)', [52, "it's"]);
  for (const id of [51, 52]) await one.execute('SELECT name FROM item WHERE id = ?', [id]);
  await one.query('SELECT 1; SELECT 2');
  await one.beginTransaction();
  await one.query('UPDATE item SET name = ? WHERE id = ?', ['# Time: now', 52]);
  await one.commit();
  await refused(one.query('SELECT nothing FROM item'));
  await one.changeUser({ user, password, database: 'other' });
  await one.query("SELECT 'of the other schema'");
  await refused(one.execute('SELECT name FROM item WHERE id = ?', [51]));
  await one.ping();
  await one.end();
  // Without waiting for the answers.
  const two = await driver.createConnection({ ...account, charset: 'latin1' });
  await Promise.all([1, 2, 3].map((number) => two.query('SELECT ?', [number])));
  await two.end();
}

async function mariadb() {
  const driver = require('mariadb');
  const options = { ...account, allowPublicKeyRetrieval: true, multipleStatements: true };
  const one = await driver.createConnection(options);
  await one.query('INSERT INTO item VALUES (?, ?)', [61, 'caf\u00e9 \u{1f600}']);
  await one.batch('INSERT INTO item VALUES (?, ?)', [[62, 'two'], [63, null], [64, "it's"]]);
  await one.execute('SELECT name FROM item WHERE id = ?', [62]);
  const prepared = await one.prepare('SELECT id FROM item WHERE name = ?');
  await prepared.execute(['two']);
  prepared.close();
  await Promise.all([1, 2, 3].map((number) => one.execute('SELECT ? + 0', [number])));
  // It does neither on MySQL.
  if (one.info.isMariaDB()) {
    await one.changeUser({ user, password, database: 'other' });
    await one.query("SELECT 'of the other schema'");
    await one.reset();
  }
  await one.query("SELECT 'reset'");
  await one.end();
}

(form === 'mysql2' ? mysql2() : mariadb()).catch((error) => {
  console.error(error);
  process.exit(1);
});
