import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { expect } from 'vitest'
import { Random } from '../../../../bench/varied/random.ts'
import { deltaOf, entry, type Kind, type Made, made, packOf } from '../../../../test/made-packs.ts'
import { run } from '../../../../test/programs/run.ts'
import { temporaryFolder, test, type World } from '../../../../test/world.ts'
import { gitEnvironment } from '../../../git/runner/environment.ts'
import { gitCommands, linesOf, storedProject } from '../../repository/commits/testing.ts'

const env = gitEnvironment(process.env['PATH']!)
const zero = '0'.repeat(40)
const packet = (text: string): string => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`

/** The outcome of each ref in the report, `ok` or `ng`; `unpack` is that of the objects. */
function outcomesOf(response: Buffer): Record<string, string> {
  const report: Buffer[] = []
  for (let at = 0; at + 4 <= response.length; ) {
    const length = Number.parseInt(response.toString('latin1', at, at + 4), 16)
    if (Number.isNaN(length)) break
    if (response[at + 4] === 1) report.push(response.subarray(at + 5, at + length))
    at += Math.max(length, 4)
  }
  const lines =
    Buffer.concat(report)
      .toString()
      .match(/(?:unpack|ok|ng) [^\n]*\n/g) ?? []
  return Object.fromEntries(
    lines.map((line) => {
      const [word = '', name = ''] = line.trim().split(' ')
      return word === 'unpack' ? [word, name === 'ok' ? 'ok' : 'ng'] : [name, word]
    }),
  )
}

/** Makes random pushes to a repository, most with something missing or wrong in them. */
class Pusher {
  readonly #random: Random
  /** What was made, and what of it is in the repository. */
  readonly #made: Made[] = []
  #stored: Made[] = []
  #sent: Made[] = []
  readonly #names = ['heads/a', 'heads/a/b', 'heads/c', 'heads/d', 'heads/e', 'tags/t', 'tags/t/u', 'tags/v']
  #count = 0

  constructor(seed: number) {
    this.#random = new Random(seed)
  }

  chance = (share: number): boolean => this.#random.chance(share)
  /** As `chance`, for what is wrong: nothing is in half of the pushes. */
  slip = (share: number): boolean => !this.#isCareful && this.chance(share)
  #isCareful = false
  pick = <T>(list: readonly T[]): T => this.#random.pick(list)

  get known(): readonly Made[] {
    return this.#isCareful ? this.#stored : this.#made
  }

  /** What was sent last has been stored. */
  stored(): void {
    this.#stored.push(...this.#sent)
  }

  /** Only these objects remain. */
  remain(oids: ReadonlySet<string>): void {
    this.#stored = this.#stored.filter(({ oid }) => oids.has(oid))
  }

  of(kind: Kind): Made | undefined {
    const found = this.known.filter((each) => each.kind === kind)
    // Recent ones more often: the others may be pruned.
    return found.length === 0 ? undefined : this.pick(this.chance(0.6) ? found.slice(-4) : found)
  }

  #add(kind: Kind, content: Buffer | string): Made {
    const object = made(kind, Buffer.from(content))
    this.#fresh.push(object)
    return object
  }

  #fresh: Made[] = []

  #blob = (): Made => this.#add('blob', `text ${++this.#count}\n`.repeat(this.chance(0.1) ? 200 : 1))

  #entries(tree: Made | undefined): { name: string; mode: string; oid: string }[] {
    const found: { name: string; mode: string; oid: string }[] = []
    const bytes = tree?.content ?? Buffer.alloc(0)
    for (let at = 0; at < bytes.length; ) {
      const nul = bytes.indexOf(0, at)
      const [mode = '', name = ''] = bytes.toString('latin1', at, nul).split(' ')
      found.push({ mode, name, oid: bytes.toString('hex', nul + 1, nul + 21) })
      at = nul + 21
    }
    return found
  }

  #tree(before: Made | undefined, depth = 0): Made {
    const entries = this.#entries(before).filter(() => this.chance(0.9))
    for (let n = 0; n < 1 + Math.floor(this.#random.next() * 2); n++) {
      const name = this.pick(['f', 'g', 'h', 'i', 'sub', 'sup'])
      const isFolder = depth < 2 && this.chance(0.3)
      const old = entries.find((each) => each.name === name)
      const oldTree = this.known.find(({ oid, kind }) => kind === 'tree' && oid === old?.oid)
      let made = { name, mode: '100644', oid: '' }
      if (isFolder) made = { name, mode: '40000', oid: this.#tree(oldTree, depth + 1).oid }
      else if (this.chance(0.25)) made.oid = this.of('blob')?.oid ?? this.#blob().oid
      else made.oid = this.#blob().oid
      if (this.chance(0.06)) made = { name, mode: '160000', oid: hash('sha1', String(this.#random.next())) }
      if (this.slip(0.04))
        made.mode = this.pick(['100755', '120000', '40755', '140000', '100600', '100664', '040000', '40000', '100644'])
      if (this.slip(0.03)) made.oid = this.pick(this.known)?.oid ?? made.oid
      if (old && this.slip(0.02)) old.mode = this.pick(['40000', '40755', '100755', '160000'])
      if (!this.slip(0.02)) entries.splice(0, entries.length, ...entries.filter((each) => each.name !== name))
      entries.push(made)
    }
    const keyOf = ({ name, mode }: { name: string; mode: string }) => (mode.endsWith('40000') ? `${name}/` : name)
    if (!this.slip(0.02)) entries.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
    return this.#add(
      'tree',
      Buffer.concat(
        entries.flatMap(({ name, mode, oid }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
      ),
    )
  }

  #commit(tips: readonly string[]): Made {
    const parents: string[] = []
    const count = tips.length === 0 ? 0 : this.pick(this.#isCareful ? [1, 1, 1, 1, 2] : [0, 1, 1, 1, 1, 2, 3])
    for (let n = 0; n < count; n++) {
      const other = this.slip(0.05) ? this.pick(this.known)?.oid : this.of('commit')?.oid
      const parent = tips.length > 0 && (this.chance(0.8) || this.#isCareful) ? this.pick(tips) : other
      const tag = this.slip(0.02) ? this.#tag() : undefined
      if (tag) parents.push(tag.oid)
      else parents.push(this.slip(0.02) ? hash('sha1', String(this.#random.next())) : (parent ?? zero))
    }
    const first = this.known.find(({ oid }) => oid === parents[0])
    const treeId = first?.kind === 'commit' ? first.content.toString('latin1', 5, 45) : undefined
    const before = this.known.find(({ oid, kind }) => kind === 'tree' && oid === treeId)
    const tree = this.slip(0.05)
      ? this.pick(this.known.filter(({ kind }) => kind === 'tree' || this.chance(0.1)))?.oid
      : before && this.chance(0.1)
        ? before.oid
        : this.#tree(before).oid
    const date = `A <a@b> ${1_700_000_000 + ++this.#count} +0000`
    const extra = this.slip(0.03)
      ? this.pick(['encoding UTF-16LE\n', 'encoding x\n', `parent ${zero}\n`, 'tree x\n'])
      : ''
    return this.#add(
      'commit',
      `tree ${tree ?? this.#tree(undefined).oid}\n${parents
        .filter((oid) => oid !== zero)
        .map((oid) => `parent ${oid}\n`)
        .join('')}author ${date}\ncommitter ${date}\n${extra}\nChange\n`,
    )
  }

  #tag(): Made {
    const target = this.pick([...this.known, ...this.#fresh])
    const wrong = this.slip(0.1)
    const kind = wrong ? 'commit' : target.kind
    return this.#add('tag', `object ${target.oid}\ntype ${kind}\ntag x\ntagger A <a@b> ${++this.#count} +0000\n\nx\n`)
  }

  /** The next push to a repository with these refs. */
  next(refs: ReadonlyMap<string, string>): { body: Buffer; text: string } {
    this.#fresh = []
    this.#isCareful = this.chance(0.6)
    const tips = [...refs.values()]
    const commands: string[] = []
    const names = new Set<string>()
    while (names.size === 0 || this.chance(0.25)) names.add(`refs/${this.pick(this.#names)}`)
    for (const name of names) {
      const commit = this.chance(0.8) ? this.#commit(tips) : undefined
      let to = commit?.oid
      // Sometimes another commit on top of it, in the same push.
      if (commit && this.chance(0.2)) to = this.#commit([commit.oid]).oid
      if (this.slip(0.05) && this.known.length > 0) to = this.#tag().oid
      to ??=
        this.pick([
          ...tips,
          ...tips,
          this.of('commit')?.oid,
          this.of('tag')?.oid,
          this.of('tree')?.oid,
          this.of('blob')?.oid,
          hash('sha1', String(this.#random.next())),
        ]) ?? zero
      // A deletion makes room for another ref of the push; in git before 2.50 only if it comes first.
      const isInWay = [...names].some((other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`))
      if (this.chance(0.07) && !isInWay) to = zero
      let from = refs.get(name) ?? zero
      if (this.slip(0.08)) from = this.pick([zero, hash('sha1', String(this.#random.next())), ...tips])
      if (from === zero && to === zero) to = tips[0] ?? hash('sha1', 'x')
      commands.push(`${from} ${to} ${name}`)
    }
    const able = `report-status side-band-64k object-format=sha1${this.chance(0.2) ? ' atomic' : ''}`
    const lose = this.#isCareful ? 0 : this.pick([0, 0, 0.05, 0.3])
    const sent = this.#fresh.filter(() => !this.chance(lose))
    if (this.chance(0.1) && this.known.length > 0) sent.push(this.pick(this.known))
    const entries = sent.map((object) => {
      const sameKind = this.known.filter(({ kind }) => kind === object.kind)
      if (sameKind.length === 0 || !this.chance(0.15)) return entry(object.kind, object.content)
      return deltaOf(this.slip(0.03) ? made(object.kind, Buffer.from('unknown')) : this.pick(sameKind), object)
    })
    this.#made.push(...this.#fresh)
    this.#sent = sent
    const lines = commands.map((line, index) => packet(index === 0 ? `${line}\0 ${able}` : line)).join('')
    const text = `${commands.join('\n')}\n${this.#fresh.map(({ oid, kind }) => `${oid} ${kind}${sent.some((each) => each.oid === oid) ? '' : ' not sent'}`).join('\n')}`
    return { body: Buffer.concat([Buffer.from(`${lines}0000`), packOf(entries)]), text }
  }
}

async function post(world: World, path: string, body: Buffer): Promise<Buffer> {
  const answer = await fetch(`${world.origin}/${path}.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`root:${world.root.token}`).toString('base64')}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
    body: new Uint8Array(body),
  })
  return Buffer.from(await answer.arrayBuffer())
}

/** Sends a push to git itself, with the settings of the service. */
async function pushToGit(gitDir: string, body: Buffer): Promise<Buffer> {
  const child = spawn('git', ['receive-pack', '--stateless-rpc', gitDir], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  // Git may have refused the push before it has read all.
  child.stdin.on('error', () => {})
  child.stdin.end(body)
  return Buffer.concat(await child.stdout.toArray())
}

const git = async (gitDir: string, ...args: string[]): Promise<string> =>
  (await run('git', ['-C', gitDir, ...args], { env })).stdout

const refsOf = (gitDir: string): Promise<string> => git(gitDir, 'for-each-ref', '--format=%(objectname) %(refname)')

const mapOf = (refs: string): ReadonlyMap<string, string> =>
  new Map(linesOf(refs).map((line) => [line.slice(zero.length + 1), line.slice(0, zero.length)]))

test('each of 100 pushes made by hand has the outcome that it has with git, and no object is ever missing', async ({
  world,
}) => {
  await using folder = await temporaryFolder()
  const project = await storedProject(world)
  const { gitDir } = project.repository
  const reference = join(folder.path, 'reference.git')
  await git(folder.path, 'init', '-q', '--bare', reference)
  const both = [gitDir, reference]
  const pusher = new Pusher(1)
  let small = 0
  for (let n = 0; n < 100; n++) {
    const { body, text } = pusher.next(mapOf(await refsOf(gitDir)))
    const theirs = outcomesOf(await pushToGit(reference, body))
    let ours: Record<string, string> = {}
    const commands = await gitCommands(world, async () => {
      ours = outcomesOf(await post(world, project.full_path, body))
    })
    const what = `push ${n}:\n${text}`
    expect(ours, what).toEqual(theirs)
    expect(await refsOf(gitDir), what).toBe(await refsOf(reference))
    await expect(git(gitDir, 'fsck', '--connectivity-only'), what).resolves.toBeDefined()
    if (ours['unpack'] === 'ok') pusher.stored()
    if (commands.every((words) => !words.startsWith('receive-pack'))) small++
    if (n % 20 !== 19) continue
    for (const dir of both) await git(dir, 'gc', '-q', '--prune=now')
    const left = await git(reference, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname)')
    pusher.remain(new Set(linesOf(left)))
  }
  expect(small).toBeGreaterThan(15)
})
