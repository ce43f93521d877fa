import type { Plan } from '../../../kernel/plan.ts'
import { type JsonSchema, jsonSchema } from './json-schema.ts'

/** The schemas of a document that have a name: records, the records within them, and request bodies. */
export class Components {
  readonly #plan: Plan
  readonly #schemas = new Map<string, JsonSchema>()
  readonly #texts = new Map<string, string>()

  constructor(plan: Plan) {
    this.#plan = plan
  }

  /** Adds a record and the named records within it. Throws if another one has the name. */
  addRecord(name: string, schema: object): void {
    this.add(
      name,
      jsonSchema(schema, this.#plan, true, (inner) => this.#referTo(inner)),
    )
  }

  /** Adds a schema and returns a reference to it. Throws if another one has the name. */
  add(name: string, schema: JsonSchema): JsonSchema {
    const text = JSON.stringify(schema)
    if ((this.#texts.get(name) ?? text) !== text) throw new Error(`two records are called ${name}`)
    this.#texts.set(name, text)
    this.#schemas.set(name, schema)
    return { $ref: `#/components/schemas/${name}` }
  }

  /** All schemas, sorted by name. */
  all(): Record<string, JsonSchema> {
    return Object.fromEntries([...this.#schemas].sort(([one], [other]) => (one < other ? -1 : 1)))
  }

  /** A record within a record. Its description is about the field, so it stays with the reference. */
  #referTo(schema: { title?: unknown; description?: unknown; tier?: unknown }): JsonSchema | undefined {
    const { title, description, tier } = schema
    if (typeof title !== 'string') return undefined
    // Spreading loses the marks of TypeBox, which the document does not show.
    const { description: _, tier: __, ...record } = schema
    this.addRecord(title, record)
    return {
      $ref: `#/components/schemas/${title}`,
      ...(description !== undefined && { description }),
      ...(tier !== undefined && { 'x-tier': tier }),
    }
  }
}
