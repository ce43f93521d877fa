import { join } from 'node:path'
import { bandPackets, bands, Packets } from '../format/packets.ts'
import { damaged } from '../runner/damage.ts'

/** Git's lines are held back until the report; beyond this size they are passed, or dropped if the repository is damaged. */
const maxHeldBytes = 64 * 1024

/** What git says itself; the hooks say other lines. */
const gitsWords = ['error: ', 'fatal: ', 'warning: '] as const

/** Git compares the objects of each push with all refs, and refuses it if the file of one is damaged or its object is lost. */
const saysBrokenRef = /^fatal: bad object refs\//

/** Git lacks an object that the client has not sent. If the repository has lost objects, it is one of these. */
const saysLacking =
  /^fatal: (?:did not receive expected object|object of unexpected type|pack has \d+ unresolved deltas?)/

/**
 * The output of `receive-pack`, with one sentence in place of what git says of files of the repository that it cannot read: lines, maybe
 * hundreds, with paths of the server. `onDamage` gets these lines. Paths of a push's own files lose the folder of the repository.
 */
export class PushMessages {
  readonly #gitDir: string
  readonly #hasLost: boolean
  readonly #onDamage: (error: Error) => void
  readonly #packets = new Packets()
  /** Not pkt-lines, such as the error of another program. */
  #isOther = false
  /** The rest of the line is passed, because its beginning was. */
  #isWithinLine = false
  #isDamaged = false
  #saysDamaged = false
  /** A line that has not ended. */
  #begun = ''
  #held = ''

  /** `hasLost`: a branch of the repository has lost its commit. */
  constructor(gitDir: string, onDamage: (error: Error) => void, { hasLost = false } = {}) {
    this.#gitDir = gitDir
    this.#hasLost = hasLost
    this.#onDamage = onDamage
  }

  /** What the client gets of a chunk, and of those before. */
  push(chunk: Buffer): Buffer {
    if (this.#isOther) return chunk
    const packets = this.#packetsOf(chunk)
    const passed = packets
      ? packets.flatMap((packet) => [...this.#passed(packet)])
      : [...this.#release(), this.#packets.rest, chunk]
    return Buffer.concat(passed)
  }

  /** What the client gets when git has ended. */
  end(): Buffer {
    return Buffer.concat([...this.#release(), ...(this.#isOther ? [] : [this.#packets.rest])])
  }

  #packetsOf(chunk: Buffer): readonly Buffer[] | undefined {
    try {
      return this.#packets.push(chunk)
    } catch {
      this.#isOther = true
      return undefined
    }
  }

  *#passed(packet: Buffer): Generator<Buffer> {
    // An empty message keeps the connection alive.
    const isMessage = packet[4] === bands.message && packet.length > 5
    if (isMessage) return yield* this.#messages(packet.toString('latin1', 5))
    if (packet.length !== 5) yield* this.#release()
    yield packet
  }

  *#messages(text: string): Generator<Buffer> {
    const pieces = (this.#begun + text).split(/(?<=[\r\n])/)
    this.#begun = ''
    let passed = ''
    for (const piece of pieces) {
      const hasEnded = /[\r\n]$/.test(piece)
      const isGits =
        !this.#isWithinLine && gitsWords.some((word) => piece.startsWith(word) || (!hasEnded && word.startsWith(piece)))
      if (isGits && !hasEnded && piece.length < maxHeldBytes) this.#begun = piece
      else if (isGits) this.#hold(piece)
      else if (piece !== `${damaged}\n`) passed += piece
      else if (!this.#saysDamaged) {
        this.#saysDamaged = true
        passed += piece
      }
      this.#isWithinLine = !hasEnded && piece !== '' && this.#begun === ''
    }
    if (!this.#isDamaged && this.#held.length > maxHeldBytes) yield* this.#release()
    yield* messagePackets(passed)
  }

  #hold(line: string): void {
    const objects = join(this.#gitDir, 'objects', '/')
    this.#isDamaged ||=
      saysBrokenRef.test(line) ||
      (this.#hasLost && saysLacking.test(line)) ||
      line.split(objects).some((rest, at) => at > 0 && !rest.startsWith('tmp_objdir-'))
    if (!this.#isDamaged || this.#held.length < maxHeldBytes) this.#held += line
  }

  *#release(): Generator<Buffer> {
    const lines = this.#held + this.#begun
    this.#held = this.#begun = ''
    if (!this.#isDamaged) yield* messagePackets(lines.replaceAll(join(this.#gitDir, '/'), ''))
    else if (lines !== '') {
      this.#onDamage(
        new Error(`git could not read the repository: ${Buffer.from(lines.slice(0, 2000), 'latin1').toString()}`),
      )
      if (!this.#saysDamaged) yield* messagePackets(`${damaged}\n`)
      this.#saysDamaged = true
    }
  }
}

const messagePackets = (text: string): Generator<Buffer> => bandPackets(bands.message, Buffer.from(text, 'latin1'))
