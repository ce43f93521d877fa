import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Failure, invalid } from '../../kernel/failure.ts'
import { isBackupId } from './backup-id.ts'
import { openPlace, type Place } from './place.ts'
import { BackupDamaged, keyOfStore, proofOf, Seal } from './seal.ts'
import { readSecret } from './secret.ts'

/*
 * A store of backups:
 *
 *     stithy-backups          what follows, and whose: JSON
 *     lease                   exists while a backup is being made, or old ones are being removed
 *     backups/<id>            one manifest for each backup, written last
 *     objects/ab/abcd…        content, by its name: pieces of at most 4 MiB, which backups share
 */

/** Content of `stithy-backups`. */
type Facts = {
  readonly format: 1
  readonly id: string
  /** The installation whose backups these are. */
  readonly installation: string
  /** Proves the key; null without encryption. */
  readonly proof: string | null
}

const factsKey = 'stithy-backups'
const leaseKey = 'lease'

/** How often a holder of the lease renews it, and after which time without a change another may take it. */
const renewMs = 20_000
const abandonedMs = 90_000
/** A process that was suspended deletes at most so much that another may have begun to use. */
const deletionsPerCheck = 100

const objectKey = (name: string): string => `objects/${name.slice(0, 2)}/${name}`

/** The process that changes a store. */
export type LeaseHolder = {
  /** Machine and process, on one line. */
  readonly name: string
  /** Whether the process with this name certainly has ended. */
  isGone(name: string): boolean
}

/** Backups of one installation, encrypted or not. */
export class BackupStore implements Disposable {
  readonly #place: Place
  readonly #seal: Seal
  readonly #id: string
  /** Fails when another process has taken the lease of this one. */
  #requireLease: () => Promise<void> = async () => {}
  readonly installation: string
  readonly isEncrypted: boolean

  private constructor(place: Place, seal: Seal, { id, installation, proof }: Facts) {
    this.#place = place
    this.#seal = seal
    this.#id = id
    this.installation = installation
    this.isEncrypted = proof !== null
  }

  /** Opens the store at a URL. `create` makes a new one for an installation if there is none. */
  static async open(
    url: string,
    { keyFile, create }: { keyFile: string | undefined; create?: { installation: string } },
  ): Promise<BackupStore> {
    const secret = keyFile === undefined ? undefined : await readSecret(keyFile)
    const place = await openPlace(url)
    const facts = (await readFacts(place)) ?? (create && (await createStore(place, secret, create.installation)))
    if (!facts) throw new Failure('not_found', `There are no backups in ${place.name}.`)
    if (create && facts.installation !== create.installation)
      throw new Failure(
        'conflict',
        `The backups in ${place.name} are of another installation (${facts.installation}): use another folder or prefix.`,
      )
    if (facts.proof !== null && secret === undefined)
      throw invalid(`The backups in ${place.name} are encrypted: set STITHY_BACKUP_KEY_FILE or --key-file.`)
    if (facts.proof === null && secret !== undefined)
      throw invalid(`The backups in ${place.name} are not encrypted: use another folder or prefix with a key.`)
    const key = secret && keyOfStore(secret, facts.id)
    if (key && proofOf(key) !== facts.proof)
      throw invalid(`The key in ${keyFile} is not the one of the backups in ${place.name}.`)
    return new BackupStore(place, new Seal(key), facts)
  }

  get name(): string {
    return this.#place.name
  }

  nameOf(content: Buffer): string {
    return this.#seal.nameOf(content)
  }

  /** Stores content under its name. Returns the bytes that it takes. */
  async put(name: string, content: Buffer): Promise<number> {
    const bytes = await this.#seal.close(name, content)
    await this.#place.put(objectKey(name), bytes)
    return bytes.length
  }

  /** Fails with `BackupDamaged` if it is missing, or not what was stored. */
  async get(name: string): Promise<Buffer> {
    const bytes = await this.#place.get(objectKey(name))
    if (!bytes) throw new BackupDamaged(`${objectKey(name)} is missing`)
    return this.#seal.openNamed(name, bytes)
  }

  /** The names of all contents. */
  async *names(): AsyncIterable<string> {
    for await (const key of this.#place.keys('objects/')) {
      const name = key.slice(key.lastIndexOf('/') + 1)
      if (/^[0-9a-f]{64}$/.test(name)) yield name
    }
  }

  /** Ids of the complete backups, oldest first. */
  async ids(): Promise<string[]> {
    const ids: string[] = []
    for await (const key of this.#place.keys('backups/')) {
      const id = key.slice('backups/'.length)
      if (isBackupId(id)) ids.push(id)
    }
    return ids.sort()
  }

  /** Completes a backup. What it names is durable before. */
  async putManifest(id: string, manifest: object): Promise<void> {
    await this.#place.sync()
    // Another process may have removed what it names.
    await this.#requireLease()
    await this.#place.put(
      `backups/${id}`,
      await this.#seal.close(`backups/${id}`, Buffer.from(JSON.stringify(manifest))),
    )
    await this.#place.sync()
  }

  async getManifest(id: string): Promise<unknown> {
    const bytes = isBackupId(id) ? await this.#place.get(`backups/${id}`) : undefined
    if (!bytes) throw new Failure('not_found', `There is no backup ${id} in ${this.name}.`)
    return JSON.parse((await this.#seal.open(`backups/${id}`, bytes)).toString())
  }

  /** Removes backups and all contents that `isUsed` denies, and unfinished files. Returns the number of contents. */
  async remove(ids: readonly string[], isUsed: (name: string) => boolean): Promise<number> {
    await this.#requireLease()
    for (const id of ids) await this.#place.remove(`backups/${id}`)
    await this.#place.sync()
    for await (const key of this.#place.keys('backups/')) if (key.endsWith('~')) await this.#place.remove(key)
    for (const whose of [factsKey, leaseKey])
      for await (const key of this.#place.keys(`${whose}.`)) if (isUnfinishedFile(key)) await this.#place.remove(key)
    let removed = 0
    for await (const key of this.#place.keys('objects/')) {
      if (isUsed(key.slice(key.lastIndexOf('/') + 1))) continue
      if (removed % deletionsPerCheck === 0) await this.#requireLease()
      await this.#place.remove(key)
      removed++
    }
    return removed
  }

  /**
   * Runs `work` while no other process changes the store. The lease of a process that is gone is taken over: at once on the same
   * machine, elsewhere after a minute and a half without a sign of life.
   */
  async exclusively<T>(self: LeaseHolder, progress: (line: string) => void, work: () => Promise<T>): Promise<T> {
    const id = randomUUID()
    let turn = 0
    const renew = () => this.#place.put(leaseKey, Buffer.from(`${id} ${turn++} ${self.name}\n`))
    const read = async () => (await this.#place.get(leaseKey))?.toString()
    const found = await read()
    const holder = /^\S+ \d+ (.*)\n$/.exec(found ?? '')?.[1]
    if (found !== undefined && !(holder !== undefined && self.isGone(holder))) {
      progress('another process has used the backups: waiting for a sign of life')
      for (let waited = 0; waited < abandonedMs; waited += 1_000) {
        await pause(1_000)
        const now = await read()
        if (now === undefined) break
        if (now !== found)
          throw new Failure(
            'conflict',
            `Another process is changing the backups in ${this.name}: try again when it has ended.`,
          )
      }
    }
    await renew()
    // Of two processes that found none, only the later one finds its own.
    await pause(found === undefined ? 200 : 2_000)
    if (!(await read())?.startsWith(id))
      throw new Failure(
        'conflict',
        `Another process is changing the backups in ${this.name}: try again when it has ended.`,
      )
    // Another process takes the lease of one that was suspended for long.
    const isOurs = async () => (await read())?.startsWith(id) ?? false
    this.#requireLease = async () => {
      if (!(await isOurs()))
        throw new Failure(
          'conflict',
          `Another process has begun to change the backups in ${this.name}, because this one gave no sign of life: repeat the command.`,
        )
    }
    let renewal = Promise.resolve()
    const timer = setInterval(() => {
      renewal = renewal
        .then(this.#requireLease)
        .then(renew)
        .catch(() => {})
    }, renewMs)
    try {
      // Two installations that found an empty place both have made a store, and the later one has replaced the other.
      if ((await readFacts(this.#place))?.id !== this.#id)
        throw new Failure(
          'conflict',
          `Another installation has begun to use ${this.name}: use another folder or prefix.`,
        )
      return await work()
    } finally {
      clearInterval(timer)
      await renewal
      if (await isOurs().catch(() => false)) await this.#place.remove(leaseKey).catch(() => {})
    }
  }

  [Symbol.dispose](): void {
    this.#place.close()
  }
}

async function readFacts(place: Place): Promise<Facts | undefined> {
  const bytes = await place.get(factsKey)
  if (!bytes) return undefined
  let facts: Facts
  try {
    facts = JSON.parse(bytes.toString())
  } catch {
    throw new BackupDamaged(`the file ${factsKey} in ${place.name} cannot be read`)
  }
  if (facts.format !== 1)
    throw new Failure('unavailable', `The backups in ${place.name} were made by a newer version of Stithy.`)
  return facts
}

/** Whether a process that was killed has left this one beside `stithy-backups` or `lease`. */
const isUnfinishedFile = (key: string): boolean => /^(stithy-backups|lease)\.[-0-9a-f]{36}~$/.test(key)

async function createStore(place: Place, secret: Buffer | undefined, installation: string): Promise<Facts> {
  for await (const key of place.keys(''))
    if (key !== leaseKey && !isUnfinishedFile(key))
      throw new Failure('conflict', `${place.name} is not empty, and has no backups: use an empty folder or prefix.`)
  const id = randomUUID()
  const facts: Facts = { format: 1, id, installation, proof: secret ? proofOf(keyOfStore(secret, id)) : null }
  await place.put(factsKey, Buffer.from(`${JSON.stringify(facts)}\n`))
  await place.sync()
  return facts
}
