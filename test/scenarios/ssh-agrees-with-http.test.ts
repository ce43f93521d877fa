import { describe, expect } from 'vitest'
import type { Level, Visibility } from '../../src/access/levels.ts'
import { gitSsh, hasSsh, sshRefusals, sshUrl, withKey } from '../ssh.ts'
import { workTree } from '../work-tree.ts'
import { type Client, git, temporaryFolder, test } from '../world.ts'

const { missing, unreadable, unwritable } = sshRefusals

type Row = {
  who: string
  visibility: Visibility
  level: Level
  archived?: boolean
  pull: string | undefined
  push: string | undefined
}

const decisions: readonly Row[] = [
  { who: 'a stranger', visibility: 'private', level: 'none', pull: missing, push: missing },
  { who: 'a stranger', visibility: 'internal', level: 'none', pull: undefined, push: unwritable },
  { who: 'a stranger', visibility: 'public', level: 'none', pull: undefined, push: unwritable },
  { who: 'external user', visibility: 'internal', level: 'none', pull: missing, push: missing },
  { who: 'a guest', visibility: 'private', level: 'guest', pull: unreadable, push: unwritable },
  { who: 'a reporter', visibility: 'private', level: 'reporter', pull: undefined, push: unwritable },
  { who: 'a developer', visibility: 'private', level: 'developer', pull: undefined, push: undefined },
  { who: 'a maintainer', visibility: 'private', level: 'maintainer', pull: undefined, push: undefined },
  { who: 'a developer', visibility: 'private', level: 'developer', archived: true, pull: undefined, push: unwritable },
  { who: 'an administrator', visibility: 'private', level: 'none', pull: undefined, push: undefined },
]

describe.skipIf(!hasSsh)('SSH and HTTP make the same decisions (needs OpenSSH)', () => {
  test.for(decisions)('SSH and HTTP agree: $who, $visibility project, archived: $archived', async (row, { world }) => {
    await using folder = await temporaryFolder()
    const ann: Client = await world.user({ external: row.who.includes('external'), admin: row.who.includes('admin') })
    const key = await withKey(folder.path, ann)
    const project = await world.project({
      visibility: row.visibility,
      members: row.level === 'none' ? [] : [[ann, row.level]],
    })
    const work = await workTree(folder.path)
    await git(work, 'push', '-q', world.remote(project, world.root), 'main')
    if (row.archived) await world.archive(project)
    for (const [service, expected, words] of [
      ['git-upload-pack', row.pull, ['fetch', '-q', sshUrl(world, project)]],
      ['git-receive-pack', row.push, ['push', '-q', sshUrl(world, project), 'main:refs/heads/mine']],
    ] as const) {
      const overSsh = await gitSsh(world, key, work, ...words)
      const overHttp = await world.anonymous.get(`//${project.full_path}.git/info/refs?service=${service}`, {
        headers: { authorization: `Basic ${Buffer.from(`${ann.username}:${ann.token}`).toString('base64')}` },
      })
      if (expected === undefined) expect([overSsh.code, overHttp.status]).toEqual([0, 200])
      else {
        expect(overSsh.err.split('\n')[0]).toBe(expected)
        expect(`Stithy: ${overHttp.text}`).toBe(`${expected}\n`)
      }
    }
  })
})
