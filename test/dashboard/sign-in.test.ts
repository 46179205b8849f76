import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sessionOfCookie } from '#api/http/session-cookie.ts';
import { buildDashboard } from '#dev/build/build-dashboard.ts';
import { type ApiWorld, apiWorld, at, TEST_PASSWORD, textAt } from '#test/support/api-world.ts';
import { assertAccessible, type TestBrowser, testBrowser } from '#test/support/browser.ts';
import { SIGNED_OUT, signedInPage } from '#test/support/dashboard-sign-in.ts';

const NEW_PASSWORD = 'another long pass phrase';

let world: ApiWorld;
let browser: TestBrowser;

before(async () => {
  await buildDashboard();
  [world, browser] = await Promise.all([apiWorld(), testBrowser()]);
});
after(async () => {
  await browser?.close();
  await world?.close();
});

test('a page asks for a sign-in, says why it was refused, and goes on where it was', async () => {
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto('/settings/keys');
  await page.getByLabel('Email').fill(world.organization.owner.email);
  await page.getByLabel('Password').fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await assertAccessible(page, 'sign-in');
  await page.getByLabel('Password').fill(TEST_PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'API keys' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/settings/keys');
  const cookies = await page.context().cookies();
  assert.deepEqual(
    cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite })),
    [
      { httpOnly: true, sameSite: 'Strict' },
      { httpOnly: false, sameSite: 'Strict' },
    ],
  );
  assert.equal(await page.evaluate('document.cookie'), 'agent-mailbox-signed-in=1', 'that there is one, and no more');
  await page.getByRole('button', { name: 'Account of' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('Password').waitFor();
  assert.deepEqual(await page.context().cookies(), []);
  assertNoFaults(SIGNED_OUT);
});

test('a sign-in leads to pages of the service only', async () => {
  const { page } = await browser.open(world.api.url);
  for (const elsewhere of ['https://evil.example/', '//evil.example/', '/\\evil.example', 'javascript:alert(1)']) {
    await page.goto(`/sign-in?to=${encodeURIComponent(elsewhere)}`);
    await page.getByLabel('Email').fill(world.organization.owner.email);
    await page.getByLabel('Password').fill(TEST_PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).first().waitFor();
    assert.equal(new URL(page.url()).origin, world.api.url, elsewhere);
  }
});

test('a page without a session asks nothing that is refused, before a sign-in, after it and after its end', async () => {
  const organization = await world.newOrganization('business');
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto('/');
  await page.getByLabel('Email').fill(organization.owner.email);
  await page.getByLabel('Password').fill(TEST_PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  // The first sign-in leads to the first steps, as long as nothing waits for a decision.
  await page.getByRole('heading', { name: 'First steps' }).waitFor();
  assert.equal(new URL(page.url()).pathname, '/mailboxes');
  const held = await world.call('POST', '/api/mailbox/messages', {
    as: organization.mailbox.token,
    body: { to: ['zed@acme.example'], subject: 'Waits', text: 'Hello.' },
  });
  assert.equal(held.status, 202, held.text);
  await page.goto('/');
  await page.getByRole('heading', { name: 'Waits' }).waitFor();
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assertNoFaults();
});

test('an invitation shows what it is for, makes an account, and works once', async () => {
  const invited = await world.call('POST', '/api/members', {
    as: world.organization.owner.session,
    body: { email: 'grace@outside.test', role: 'admin' },
  });
  assert.equal(at(invited.body, 'invitedBy', 'name'), 'A owner', invited.text);
  const token = textAt(invited.body, 'token');
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto(`/accept-invitation#${token}`);
  await page.getByRole('heading', { name: `Join ${world.organization.name}` }).waitFor();
  await page.getByText(`A owner (${world.organization.owner.email}) invites you.`).waitFor();
  await page.getByText('grace@outside.test is invited as admin').waitFor();
  assert.ok(!page.url().includes(token), 'the token is not left in the address');
  await assertAccessible(page, 'invitation');
  await page.getByLabel('Your name').fill('Grace Hopper');
  await page.getByLabel('Choose a password').fill('short');
  await page.getByRole('button', { name: 'Join' }).click();
  assert.equal(await page.getByRole('heading', { name: 'Join' }).isVisible(), true, 'a short password is not sent');
  await page.getByLabel('Choose a password').fill(NEW_PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  await page.getByRole('button', { name: 'Account of Grace Hopper' }).waitFor();
  const members = await world.call('GET', '/api/members', { as: world.organization.key });
  const list = at(members.body, 'data');
  assert.ok(Array.isArray(list) && list.some((each) => textAt(each, 'email') === 'grace@outside.test'));
  const stranger = await browser.open(world.api.url);
  await stranger.page.goto(`/accept-invitation#${token}`);
  await stranger.page.getByRole('heading', { name: 'This invitation is no longer valid' }).waitFor();
  await stranger.page.goto('/accept-invitation');
  await stranger.page.getByRole('heading', { name: 'This invitation is no longer valid' }).waitFor();
  await assertAccessible(stranger.page, 'dead invitation');
  assertNoFaults(SIGNED_OUT);
  stranger.assertNoFaults([404]);
});

test('an invitation of an address that has an account is accepted with its password', async () => {
  const organization = await world.newOrganization('team');
  const { email } = world.other.member;
  const token = await world.newInvitation(organization, email);
  const { page, assertNoFaults } = await browser.open(world.api.url, { phone: true });
  await page.goto(`/accept-invitation#${token}`);
  await page.getByLabel('Password').fill('not the password at all');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByText('This is not the password of the account.').waitFor();
  await page.getByLabel('Password').fill(TEST_PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  assert.equal(await page.evaluate(`localStorage.getItem('agent-mailbox.organization')`), organization.id);
  assertNoFaults(SIGNED_OUT);
});

test('a forgotten password is replaced by a link, which works once and signs out everywhere', async () => {
  const { page, assertNoFaults } = await browser.open(world.api.url);
  await page.goto('/sign-in');
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await page.getByLabel('Email').fill('nobody@nowhere.test');
  await assertAccessible(page, 'forgot password');
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByText('If nobody@nowhere.test has an account').waitFor();

  const person = await world.newPerson(world.organization.id, 'member');
  const made = await world.call('POST', `/api/members/${person.memberId}/password-reset`, {
    as: world.organization.owner.session,
  });
  assert.equal(made.status, 201, made.text);
  const url = new URL(textAt(made.body, 'resetUrl'));
  await page.goto(url.pathname + url.hash);
  await page.getByLabel('New password').fill(NEW_PASSWORD);
  assert.equal(new URL(page.url()).hash, '', 'the token is not left in the address');
  await assertAccessible(page, 'reset password');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByRole('heading', { name: 'Your password was changed' }).waitFor();
  assert.equal((await world.call('GET', '/api/sessions/current', { as: person.session })).status, 401);
  await page.goto('/approvals');
  await page.goto(url.pathname + url.hash);
  await page.getByLabel('New password').fill('yet another pass phrase');
  await page.getByRole('button', { name: 'Change the password' }).click();
  await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor();
  await page.goto('/sign-in');
  await page.getByLabel('Email').fill(person.email);
  await page.getByLabel('Password').fill(NEW_PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  assertNoFaults([...SIGNED_OUT, 404]);
});

for (const [name, options] of [
  ['a phone', { phone: true }],
  ['dark', { dark: true }],
] as const)
  test(`the pages before the sign-in fit and are accessible: ${name}`, async () => {
    const { page, assertNoFaults } = await browser.open(world.api.url, options);
    const token = await world.newInvitation(world.organization, `${name.replace(' ', '-')}@outside.test`);
    for (const [path, heading] of [
      ['/sign-in', 'Sign in'],
      ['/forgot-password', 'Forgot your password'],
      ['/reset-password#token', 'Choose a new password'],
      [`/accept-invitation#${token}`, 'Join'],
    ] as const) {
      await page.goto(path);
      await page.getByRole('heading', { name: heading }).waitFor();
      await assertAccessible(page, path);
      const wider = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      assert.equal(wider, 0, `${path} scrolls sideways`);
    }
    assertNoFaults(SIGNED_OUT);
  });

test('a session that was ended elsewhere leads back to the sign-in', async () => {
  const person = await world.newPerson(world.organization.id, 'member');
  const { page } = await signedInPage(browser, world.api.url, person.email, '/domains');
  await world.sql(`delete from sessions where user_id = $1`, [person.userId]);
  await page.goto('/settings/lists');
  await page.getByLabel('Password').waitFor();
  assert.equal(new URL(page.url()).pathname, '/sign-in');
});

test('a session cookie counts only for requests of our own pages', async () => {
  const signIn = (origin: string | undefined) =>
    fetch(new URL('/api/sessions', world.api.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(origin === undefined ? {} : { origin }) },
      body: JSON.stringify({ email: world.organization.owner.email, password: TEST_PASSWORD, cookie: true }),
    });
  assert.equal((await signIn(undefined)).status, 403);
  assert.equal((await signIn('https://evil.example')).status, 403);
  const answer = await signIn(world.api.url);
  assert.equal(answer.status, 201);
  assert.equal(textAt(await answer.json(), 'user', 'email'), world.organization.owner.email);
  const [setCookie = '', mark = ''] = answer.headers.getSetCookie();
  assert.match(mark, /^agent-mailbox-signed-in=1; /, 'says that there is a session, and nothing of it');
  assert.match(setCookie, /; HttpOnly; SameSite=Strict$/);
  const cookie = setCookie.split(';')[0] ?? '';
  const status = async (method: string, headers: Record<string, string>) => {
    const body = method === 'POST' ? { 'content-type': 'application/json' } : {};
    const response = await fetch(new URL('/api/mailboxes', world.api.url), {
      method,
      headers: { cookie, ...body, ...headers },
      ...(method === 'POST' ? { body: '{}' } : {}),
    });
    await response.text();
    return response.status;
  };
  assert.equal(await status('GET', { 'sec-fetch-site': 'same-origin' }), 200);
  assert.equal(await status('GET', { 'sec-fetch-site': 'cross-site' }), 403);
  assert.equal(await status('GET', {}), 403);
  assert.equal(await status('POST', { 'sec-fetch-site': 'same-origin' }), 403, 'a change needs an Origin');
  assert.equal(await status('POST', { origin: 'https://evil.example' }), 403);
  assert.equal(await status('POST', { origin: 'null' }), 403);
  assert.equal(await status('POST', { origin: world.api.url }), 201);
  // Elsewhere a neighbouring host could set a cookie without the prefix.
  const own = new URL(world.api.url);
  const found = (host: string, publicUrl: string) => sessionOfCookie({ headers: { cookie, host }, publicUrl });
  assert.notEqual(found(own.host, own.origin), undefined);
  assert.equal(found('dashboard.example', 'https://dashboard.example'), undefined);
  assert.notEqual(found('api:8080', 'http://localhost:8080'), undefined, 'behind a proxy on this machine');
  // Elsewhere than on this machine the cookie travels by HTTPS only.
  const elsewhere = await fetch(new URL('/api/sessions', world.api.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: world.api.url.replace('http:', 'https:') },
    body: JSON.stringify({ email: world.organization.owner.email, password: TEST_PASSWORD, cookie: true }),
  });
  assert.match(elsewhere.headers.getSetCookie()[0] ?? '', /^__Host-agent-mailbox-session=ams_.*; Secure$/);
});
