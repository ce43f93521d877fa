import { createHmac } from 'node:crypto'
import { expect, inject } from 'vitest'
import { storeSetting } from '../../../../test/tables/instance.ts'
import { test, type World } from '../../../../test/world.ts'
import { type App, createApp } from '../../../app.ts'

/** The service as it would be after a restart. */
const restarted = (world: World): Promise<App> =>
  createApp(world.config, { databaseUrl: world.databaseUrl, runnerSocket: inject('runnerSocket') })

const image = 'https://elsewhere.example/a.png?b=c&d'

async function htmlOf(app: App, text: string): Promise<string> {
  const ctx = await app.open(null)
  const [html] = await ctx.markdown.html(ctx, [{ text, place: { of: 'instance' } }])
  return html!.html
}

test('D2-SETTINGS-ASSET-PROXY-RESTART external images are proxied after a restart, and not before', async ({
  world,
}) => {
  await world.settings({})
  const text = `![x](${image})`
  const direct = '<p><img alt="x" src="https://elsewhere.example/a.png?b=c&amp;d" loading="lazy"></p>'
  expect(await htmlOf(world.app, text)).toBe(direct)
  const changes = {
    asset_proxy_enabled: true,
    asset_proxy_url: 'https://proxy.example/',
    asset_proxy_secret_key: 'shared secret',
    asset_proxy_whitelist: ['*.trusted.example', 'plain.example'],
  }
  expect((await world.root.put('/application/settings', changes)).status).toBe(200)
  expect((await world.app.open(null)).settings.asset_proxy_enabled).toBe(true)
  expect(await htmlOf(world.app, text)).toBe(direct)
  await using app = await restarted(world)
  const signature = createHmac('sha1', 'shared secret').update(image).digest('hex')
  const proxied = `https://proxy.example/${signature}/${Buffer.from(image).toString('hex')}`
  const html = await htmlOf(app, text)
  expect(html).toContain(`src="${proxied}"`)
  expect(html).toContain('data-canonical-src="https://elsewhere.example/a.png?b=c&amp;d"')
  // Every way to write an image passes the proxy.
  for (const written of [
    `<img src="${image}">`,
    `<IMG SRC=https:elsewhere.example/a.png>`,
    '![](//elsewhere.example/a.png)',
    '<img src="\\\\elsewhere.example/a.png">',
    '<img src="/\t/elsewhere.example/a.png">',
  ])
    expect(await htmlOf(app, written), written).toContain('src="https://proxy.example/')
  for (const host of ['a.trusted.example', 'plain.example', new URL(world.origin).hostname])
    expect(await htmlOf(app, `![](https://${host}/a.png)`)).toContain(`src="https://${host}/a.png"`)
  for (const host of ['trusted.example.evil', 'eviltrusted.example', 'a.plain.example'])
    expect(await htmlOf(app, `![](https://${host}/a.png)`)).toContain('src="https://proxy.example/')
})

test('images are not proxied after a restart while the proxy is disabled', async ({ world }) => {
  await world.settings({ asset_proxy_url: 'https://proxy.example' })
  await using app = await restarted(world)
  expect(await htmlOf(app, `![x](${image})`)).toContain('src="https://elsewhere.example/')
})

test('the service starts without the key of the secret of the proxy', async ({ world }) => {
  await world.settings({ asset_proxy_enabled: true, asset_proxy_url: 'https://proxy.example' })
  await storeSetting(world, 'asset_proxy_secret_key', 'v1:00000000:none')
  await using app = await restarted(world)
  expect(await htmlOf(app, `![x](${image})`)).toContain('src="https://proxy.example/')
})
