import type { JobSummary } from './result.ts'
import { Reference } from './yaml.ts'

export type Fields = { readonly [name: string]: unknown }

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Reference)

export const globalKeywords: ReadonlySet<string> = new Set(
  'default include image services stages types variables cache before_script after_script workflow spec'.split(' '),
)

const jobKeywords: ReadonlySet<string> = new Set(
  `after_script allow_failure artifacts before_script cache coverage dast_configuration dependencies environment except
  extends hooks id_tokens identity image inherit interruptible manual_confirmation needs only pages parallel publish
  release resource_group retry rules run script secrets services stage start_in tags timeout trigger type variables
  when`.split(/\s+/),
)

const whenValues = ['on_success', 'on_failure', 'always', 'manual', 'delayed', 'never']

const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value.flat(10) : [value]).filter((each) => typeof each === 'string')

/** Whether a script has only text, also in nested lists, as `!reference` makes them. */
const isScript = (value: unknown): boolean =>
  typeof value === 'string' ||
  (Array.isArray(value) && value.length > 0 && value.flat(10).every((each) => isScript(each)))

/** Names of the jobs that a job needs; those of other projects and pipelines, and optional ones, are left out. */
const needsOf = (job: Fields): string[] =>
  (Array.isArray(job['needs']) ? job['needs'] : []).flatMap((need: unknown) =>
    typeof need === 'string'
      ? [need]
      : isFields(need) && typeof need['job'] === 'string' && !need['project'] && !need['pipeline'] && !need['optional']
        ? [need['job']]
        : [],
  )

/** Errors of a configuration whose `extends` are merged. `complete`: no part of it is unknown. */
export function jobErrors(config: Fields, complete: boolean): string[] {
  const stages = [
    '.pre',
    ...(isFields(config) && Array.isArray(config['stages']) ? texts(config['stages']) : ['build', 'test', 'deploy']),
    '.post',
  ]
  const jobs = jobsOf(config)
  if (jobs.length === 0) return complete ? ['jobs config should contain at least one visible job'] : []
  const names = new Set(jobs.map(([name]) => name))
  const errors = jobs.flatMap(([name, job]) => {
    if (!isFields(job)) return [`jobs:${name} config should be a hash`]
    return [...ownErrors(name, job), ...(complete ? relationErrors(name, job, stages, names) : [])]
  })
  if (
    'stages' in config &&
    (!Array.isArray(config['stages']) || texts(config['stages']).length < config['stages'].length)
  )
    errors.unshift('stages config should be an array of strings')
  const cycle = complete
    ? needsCycle(new Map(jobs.map(([name, job]) => [name, isFields(job) ? needsOf(job) : []])))
    : undefined
  return cycle ? [...errors, `The pipeline has circular dependencies: ${cycle.join(', ')}`] : errors
}

function ownErrors(name: string, job: Fields): string[] {
  const errors: string[] = []
  const unknown = Object.keys(job).filter((key) => !jobKeywords.has(key))
  if (unknown.length > 0) errors.push(`jobs:${name} config contains unknown keys: ${unknown.join(', ')}`)
  if (!('script' in job || 'trigger' in job || 'run' in job))
    errors.push(`jobs:${name} config should implement the script:, run:, or trigger: keyword`)
  for (const key of ['script', 'before_script', 'after_script'])
    if (key in job && !isScript(job[key]) && !(key !== 'script' && Array.isArray(job[key]) && job[key].length === 0))
      errors.push(`jobs:${name}:${key} config should be a string or a nested array of strings up to 10 levels deep`)
  if ('stage' in job && typeof job['stage'] !== 'string') errors.push(`jobs:${name}:stage config should be a string`)
  if (typeof job['when'] === 'string' && !whenValues.includes(job['when']))
    errors.push(`jobs:${name} when should be one of: ${whenValues.join(', ')}`)
  if ('rules' in job && ('only' in job || 'except' in job))
    errors.push(`jobs:${name} config key may not be used with \`rules\`: ${'only' in job ? 'only' : 'except'}`)
  return errors
}

function relationErrors(name: string, job: Fields, stages: readonly string[], names: ReadonlySet<string>): string[] {
  const stage = job['stage'] ?? 'test'
  return [
    ...(typeof stage === 'string' && !stages.includes(stage)
      ? [`${name} job: chosen stage ${stage} does not exist; available stages are ${stages.join(', ')}`]
      : []),
    ...needsOf(job)
      .filter((need) => !names.has(need))
      .map((need) => `${name} job: undefined need: ${need}`),
    ...texts(job['dependencies'] ?? [])
      .filter((dependency) => !names.has(dependency))
      .map((dependency) => `${name} job: undefined dependency: ${dependency}`),
  ]
}

/** The jobs that wait for each other, directly or not; each job is visited once. */
function needsCycle(needs: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const waiting = new Map([...needs].map(([name, all]) => [name, all.filter((need) => needs.has(need)).length]))
  const waiters = new Map<string, string[]>()
  for (const [name, all] of needs) for (const need of all) waiters.set(need, [...(waiters.get(need) ?? []), name])
  const ready = [...waiting].filter(([, count]) => count === 0).map(([name]) => name)
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    waiting.delete(next)
    for (const waiter of waiters.get(next) ?? []) {
      const left = waiting.get(waiter)! - 1
      waiting.set(waiter, left)
      if (left === 0) ready.push(waiter)
    }
  }
  return waiting.size === 0 ? undefined : [...waiting.keys()].slice(0, 10)
}

/** The jobs of a valid configuration whose `extends` and references are resolved, in the order of the file. */
export function jobSummaries(config: Fields): JobSummary[] {
  const defaults = isFields(config['default']) ? config['default'] : {}
  const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  return jobsOf(config).flatMap(([name, job]) => {
    if (!isFields(job)) return []
    const inherited = (keyword: string) => texts(job[keyword] ?? defaults[keyword] ?? config[keyword] ?? [])
    const environment = job['environment']
    return {
      name,
      stage: textOf(job['stage']) ?? 'test',
      before_script: inherited('before_script'),
      script: texts(job['script'] ?? []),
      after_script: inherited('after_script'),
      tag_list: texts(job['tags'] ?? defaults['tags'] ?? []),
      environment: textOf(isFields(environment) ? environment['name'] : environment),
      when: textOf(job['when']) ?? 'on_success',
      allow_failure: job['allow_failure'] === undefined ? job['when'] === 'manual' : job['allow_failure'] !== false,
      needs: needsOf(job),
    }
  })
}

/** The jobs that are not hidden. */
const jobsOf = (config: Fields): [string, unknown][] =>
  Object.entries(config).filter(([name]) => !globalKeywords.has(name) && !name.startsWith('.'))
