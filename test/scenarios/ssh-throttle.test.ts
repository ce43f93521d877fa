import { describe, expect } from 'vitest'
import { hasSsh, keyPair, ssh, withKey } from '../ssh.ts'
import { countSignInFailures, forgetSignInFailures, signInFailures } from '../tables/sign-in.ts'
import { temporaryFolder, test } from '../world.ts'

describe.skipIf(!hasSsh)('unknown SSH keys (need OpenSSH)', () => {
  test('unknown keys count as failed sign-ins of their address, and known keys still work', async ({ world }) => {
    await using folder = await temporaryFolder()
    await forgetSignInFailures(world)
    const stray = await keyPair(folder.path)
    const counted = async () => (await signInFailures(world)).map(({ failures }) => failures)
    expect((await ssh(world, stray)).err).toContain('Permission denied')
    await expect.poll(counted).toEqual([1])
    await countSignInFailures(world, 100)
    expect((await ssh(world, stray)).err).not.toContain('Permission denied')
    const ann = await world.user()
    expect((await ssh(world, await withKey(folder.path, ann))).out).toContain(ann.username)
    // Password sign-ins from the address are throttled, too: all transports share one count.
    const json = { grant_type: 'password', username: ann.username, password: 'correct horse battery' }
    expect((await world.anonymous.send('POST', '//oauth/token', { json })).status).toBe(429)
    await forgetSignInFailures(world)
  })
})
