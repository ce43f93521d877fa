import { LRUCache } from 'lru-cache'
import { knownText } from './statement.ts'

/** A statement that a connection has prepared, or is about to. */
export type Prepared<Columns> = {
  /** Never used again on the connection: responses to statements under way may still name a closed one. */
  readonly name: string
  /** Known after the first execution: they cannot change while a statement is prepared. */
  columns: Columns | undefined
}

/**
 * Executions of a text in this process before it is prepared. Those of most texts of lists remain few, and PostgreSQL itself
 * plans the first five executions each time.
 */
const usesBefore = 3

/** Memory of the server for a prepared statement, by character of its text: 72 to 100, and its plan. Measured with PostgreSQL 18. */
const bytesPerCharacter = 100

/**
 * Maximum memory of the server for the prepared statements of one connection. With 12 MB, the records of projects, issues and merge
 * requests, each a megabyte, pushed one another out.
 */
const preparedBytes = 24 * 1024 * 1024

/** The same for a connection for transactions, of which there are many, and whose statements are short. */
export const preparedBytesOfWriters = 8 * 1024 * 1024

/**
 * The statements that one connection has prepared. The server holds the trees of each in each connection, up to a megabyte for a list:
 * without a limit, they were most of the memory of the service. The least recently used ones are closed.
 */
export class PreparedStatements<Columns> {
  readonly #statements: LRUCache<string, Prepared<Columns>>
  readonly #closed: string[] = []
  #lastName = 0

  constructor(maximumBytes = preparedBytes) {
    this.#statements = new LRUCache({
      maxSize: maximumBytes,
      sizeCalculation: (_, text) => bytesPerCharacter * (text.length + 1),
      disposeAfter: ({ name }) => void this.#closed.push(name),
    })
  }

  /** Estimated memory of the server, in bytes. */
  get bytes(): number {
    return this.#statements.calculatedSize
  }

  /** The prepared statement with which to execute the text, which may be a new one; undefined to execute it unprepared. */
  use(text: string): Prepared<Columns> | undefined {
    const known = knownText(text)
    const uses = known.uses++
    const found = this.#statements.get(text)
    if (found || uses < usesBefore || known.isPlannedEachTime) return found
    const made: Prepared<Columns> = { name: `s${++this.#lastName}`, columns: undefined }
    this.#statements.set(text, made)
    return this.#statements.has(text) ? made : undefined
  }

  /** Names of statements to close, each once. */
  takeClosed(): string[] {
    return this.#closed.splice(0)
  }
}
