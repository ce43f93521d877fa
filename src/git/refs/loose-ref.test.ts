import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Oid } from '../format/oid.ts'
import type { RefName } from '../format/ref-name.ts'
import { isHolderName } from '../repository/owned-lock.ts'
import { TestGit, type TestRepository } from '../testing.ts'
import { moveLooseRef } from './loose-ref.ts'
import { readRef } from './refs.ts'
import { updateRefs } from './update-refs.ts'

const run = promisify(execFile)

let world: TestGit
beforeAll(async () => {
  world = await TestGit.start()
})
afterAll(() => world[Symbol.asyncDispose]())

const main = 'refs/heads/main' as RefName
const commits = (made: TestRepository, count: number): Oid[] =>
  Array.from({ length: count }, (_, n) => made.commit({ a: String(n) }, { branch: 'history' }))
const locks = ({ repo }: TestRepository): string[] =>
  readdirSync(join(repo.gitDir, 'refs/heads')).filter((name) => name.endsWith('.lock'))

describe('updates of loose refs', () => {
  test('a loose ref is updated only from the expected commit', async () => {
    const made = await world.repository()
    const [one, two, three] = commits(made, 3) as [Oid, Oid, Oid]
    made.git('update-ref', main, one)
    expect(await moveLooseRef(made.repo, { name: main, from: one, to: two })).toBe('moved')
    expect(made.git('rev-parse', main)).toBe(two)
    expect(await moveLooseRef(made.repo, { name: main, from: one, to: three })).toBe('stale')
    expect(await readRef(made.repo, main)).toBe(two)
    expect(locks(made)).toEqual([])
    made.git('fsck', '--strict')
  })

  test('a loose ref is created if there is none', async () => {
    const made = await world.repository()
    const [one, two] = commits(made, 2) as [Oid, Oid]
    expect(await moveLooseRef(made.repo, { name: main, from: 'absent', to: one })).toBe('moved')
    expect(made.git('rev-parse', main)).toBe(one)
    expect(await moveLooseRef(made.repo, { name: main, from: 'absent', to: two })).toBe('stale')
    expect(await readRef(made.repo, main)).toBe(one)
    expect(locks(made)).toEqual([])
    made.git('fsck', '--strict')
  })

  test('a new ref that may collide with another one is left to git', async () => {
    const made = await world.repository()
    const [one] = commits(made, 1) as [Oid]
    const create = (name: string) => moveLooseRef(made.repo, { name: name as RefName, from: 'absent', to: one })
    made.git('update-ref', 'refs/heads/folder/branch', one)
    for (const name of ['refs/heads/folder', 'refs/heads/folder/branch/below', 'refs/heads/new/branch'])
      expect(await create(name), name).toBeUndefined()
    made.git('pack-refs', '--all', '--prune')
    for (const name of ['refs/heads/folder', 'refs/heads/folder/branch', main])
      expect(await create(name), name).toBeUndefined()
    expect(made.git('for-each-ref', '--format=%(refname)')).not.toContain(main)
    expect(locks(made)).toEqual([])
  })

  test('packed, symbolic, locked and missing refs are left to git', async () => {
    const made = await world.repository()
    const [one, two] = commits(made, 2) as [Oid, Oid]
    const tree = made.git('rev-parse', `${one}^{tree}`) as Oid
    const packed = 'refs/heads/packed' as RefName
    made.git('update-ref', packed, one)
    made.git('pack-refs', '--all')
    made.git('update-ref', main, one)
    made.git('symbolic-ref', 'refs/heads/alias', main)
    for (const [name, to] of [
      [packed, two],
      ['refs/heads/alias' as RefName, two],
      ['refs/heads/gone' as RefName, two],
      ['refs/heads/deep/er' as RefName, two],
      [main, tree],
      [main, 'f'.repeat(40) as Oid],
    ] as const)
      expect(await moveLooseRef(made.repo, { name, from: one, to }), name).toBeUndefined()
    expect(locks(made)).toEqual([])
    await writeFile(join(made.repo.gitDir, `${main}.lock`), '')
    expect(await moveLooseRef(made.repo, { name: main, from: one, to: two })).toBeUndefined()
    expect(locks(made)).toEqual(['main.lock'])
    expect(await readRef(made.repo, main)).toBe(one)
  })

  test('the lock of a process that was killed is removed at once, that of one that lives or of git is not', async () => {
    const made = await world.repository()
    const [one, two, three] = commits(made, 3) as [Oid, Oid, Oid]
    const { gitDir } = made.repo
    const path = join(gitDir, `${main}.lock`)
    const holders = () => readdirSync(gitDir).filter(isHolderName)
    const other = 'refs/heads/other' as RefName
    made.git('update-ref', main, one)
    const holder = async () => {
      const source = new URL('../repository/owned-lock.ts', import.meta.url).href
      const code = `import { OwnedLock } from '${source}'; const taken = OwnedLock.take('${gitDir}', '${path}'); console.log(taken !== undefined); setInterval(() => taken, 1000)`
      const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      expect(String((await once(child.stdout, 'data'))[0])).toBe('true\n')
      return {
        async [Symbol.asyncDispose]() {
          const ended = once(child, 'exit')
          child.kill('SIGKILL')
          await ended
        },
      }
    }
    {
      await using _living = await holder()
      expect(await moveLooseRef(made.repo, { name: main, from: one, to: two })).toBeUndefined()
      expect(locks(made)).toEqual(['main.lock'])
    }
    expect(await moveLooseRef(made.repo, { name: main, from: one, to: two })).toBe('moved')
    await (await holder())[Symbol.asyncDispose]()
    const together = [
      { name: main, from: two, to: three },
      { name: other, from: 'absent', to: three },
    ] as const
    expect(await updateRefs(made.repo, together)).toBe('moved')
    expect([await readRef(made.repo, main), await readRef(made.repo, other)]).toEqual([three, three])
    expect([...locks(made), ...holders()]).toEqual([])
    expect(statSync(join(gitDir, main)).nlink).toBe(1)
    await writeFile(path, '')
    expect(await moveLooseRef(made.repo, { name: main, from: three, to: one })).toBeUndefined()
    expect(locks(made)).toEqual(['main.lock'])
  })

  test('of many processes that find the lock of a killed one, one moves the ref', async () => {
    const made = await world.repository()
    const ids = commits(made, 9)
    const { gitDir } = made.repo
    made.git('update-ref', main, ids[0]!)
    const path = join(gitDir, `${main}.lock`)
    const source = new URL('../repository/owned-lock.ts', import.meta.url).href
    const started = (code: string) =>
      run(process.execPath, [
        '--input-type=module',
        '-e',
        `import { OwnedLock, removeLockOfKilled } from '${source}'; ${code}`,
      ])
    for (let round = 0; round < 5; round++) {
      await started(`OwnedLock.take('${gitDir}', '${path}'); process.kill(process.pid, 'SIGKILL')`).catch(() => {})
      expect(locks(made)).toEqual(['main.lock'])
      const claims = await Promise.all(
        Array.from({ length: 4 }, () => started(`console.log(removeLockOfKilled('${gitDir}', '${path}'))`)),
      )
      expect(claims.filter(({ stdout }) => stdout === 'true\n')).toHaveLength(1)
      expect([...locks(made), ...readdirSync(gitDir).filter(isHolderName)]).toEqual([])
    }
  })

  test('no update of a loose ref is lost under concurrent updates by git', async () => {
    const made = await world.repository()
    const ids = commits(made, 8)
    const gitDir = made.repo.gitDir
    made.git('update-ref', main, ids[0]!)
    const won: [Oid, Oid][] = []
    let left = 120
    const other = (from: Oid) => ids[(ids.indexOf(from) + 1 + Math.floor(Math.random() * 7)) % 8]!
    const ours = async () => {
      while (left-- > 0) {
        const from = (await readRef(made.repo, main))!
        const to = other(from)
        if ((await updateRefs(made.repo, [{ name: main, from, to }])) === 'moved') won.push([from, to])
      }
    }
    const theirs = async () => {
      while (left-- > 0) {
        const from = (await readRef(made.repo, main))!
        const to = other(from)
        await run('git', ['update-ref', main, to, from], { cwd: gitDir }).then(
          () => won.push([from, to]),
          () => {},
        )
        await run('git', ['pack-refs', '--all', '--prune'], { cwd: gitDir }).catch(() => {})
      }
    }
    await Promise.all([ours(), ours(), ours(), theirs()])
    // Each update begins where another ended: every commit is left as often as it is reached, except the first and the last.
    const balance = new Map<Oid, number>()
    for (const [from, to] of won) {
      balance.set(from, (balance.get(from) ?? 0) - 1)
      balance.set(to, (balance.get(to) ?? 0) + 1)
    }
    const last = await readRef(made.repo, main)
    for (const oid of ids) expect(balance.get(oid) ?? 0, oid).toBe((oid === last ? 1 : 0) - (oid === ids[0] ? 1 : 0))
    expect(won.length).toBeGreaterThan(20)
    expect(locks(made)).toEqual([])
  })
})
