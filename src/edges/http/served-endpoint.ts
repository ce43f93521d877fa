import type { TObject } from 'typebox'
import type { Rule } from '../../access/policy.ts'
import type { Scope } from '../../access/scopes.ts'
import type { Endpoint } from '../../api/endpoint.ts'
import { compileParams, type ParamsReader } from '../../api/params/compile.ts'
import type { RawParams } from '../../api/params/raw.ts'
import { withoutJsonSuffix } from '../../kernel/json-suffix.ts'
import type { Settings } from '../../settings/settings.ts'
import { type AnswerKind, answerKind } from './answers-in-work.ts'
import { type BodyLimits, usualLimits } from './body/limits.ts'
import type { HttpContext } from './context.ts'
import { allParams, apiPrefix, scopesFor } from './declared.ts'

/** Parameters as an endpoint, its subject and lists declare them. */
export type Params = ReturnType<ParamsReader<TObject>>

/** An endpoint with what follows from its declaration, which is the same for all requests. */
export class ServedEndpoint {
  readonly declared: Endpoint
  readonly context: HttpContext
  readonly route: string
  readonly kind: AnswerKind | undefined
  readonly scopes: readonly Scope[]
  /** The rules that decide who may use it, and who may know that its subject exists. */
  readonly rule: Rule
  readonly visible: Rule
  readonly pathParams: (given: RawParams) => RawParams
  readonly #ownNames: readonly string[]
  #reader: ParamsReader<TObject> | undefined

  constructor(e: Endpoint, context: HttpContext) {
    this.declared = e
    this.context = context
    this.route = apiPrefix + e.path
    this.kind = answerKind(e)
    this.scopes = scopesFor(e)
    this.rule = e.subject.policy[e.allow]!
    this.visible = e.subject.policy[e.subject.visible]!
    this.pathParams = pathParamsOf(e)
    this.#ownNames = Object.keys(e.params?.properties ?? {})
  }

  /** Limits of the request body for an authenticated caller. */
  bodyLimits(settings: Settings): BodyLimits {
    const { bodyLimit, fileLimit } = this.declared
    return {
      ...usualLimits,
      ...(bodyLimit !== undefined && { bytes: bodyLimit }),
      ...(fileLimit && {
        // Files in other fields are stored, too, until the parameters are read.
        fileBytes: (name) => (this.#ownNames.includes(name) ? fileLimit(settings) : usualLimits.fileBytes(name)),
      }),
    }
  }

  /** The parameters as declared; throws `ParameterError`. The first request compiles the declaration. */
  read(raw: RawParams): Params {
    const { declared, context } = this
    this.#reader ??= compileParams(allParams(declared), { plan: context.plan })
    return this.#reader(raw, declared.method)
  }

  /**
   * The parameters without `.json` at the end of the full path of a project or group, for when none has that name; undefined if it has no
   * such end. Not for deletions: one that is repeated after `data.json` is gone must not delete `data`.
   */
  withoutSuffix(params: Params): Params | undefined {
    const { path, method } = this.declared
    const name = path.endsWith('/:id') && method !== 'DELETE' ? params['id'] : undefined
    const id = typeof name === 'string' ? withoutJsonSuffix(name) : undefined
    return id === undefined ? undefined : { ...params, id }
  }

  /** The parameters that the endpoint itself declares; the handler gets no others. */
  ownParams(params: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const own: Record<string, unknown> = {}
    for (const name of this.#ownNames) if (name in params) own[name] = params[name]
    return own
  }
}

/** Parameters of the path. Removes `.json` after a final numeric id; after a name it may be part of the name. */
function pathParamsOf(e: Endpoint): (given: RawParams) => RawParams {
  const last = /:(\w*id)$/.exec(e.path)?.[1]
  if (last === undefined) return (given) => given
  return (given) => {
    const number = /^(\d+)\.json$/.exec(String(given[last]))?.[1]
    return number === undefined ? given : { ...given, [last]: number }
  }
}
