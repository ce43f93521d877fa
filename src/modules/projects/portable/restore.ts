import { visibilityName } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { compileParams } from '../../../api/params/compile.ts'
import { ParameterError } from '../../../api/params/parameter-error.ts'
import { Params } from '../../../api/params/types.ts'
import type { Tx } from '../../../db/db.ts'
import { lockNamespace } from '../../namespaces/index.ts'
import { cleanupPolicyParams } from '../projects/cleanup-policy.ts'
import { attributesOf, updateProject } from '../projects/edit-queries.ts'
import { type FeatureLevels, featureLevelsRow, featureViolations, newFeatures } from '../projects/features.ts'
import { visibilityViolations } from '../projects/place.ts'
import { findProject } from '../projects/queries.ts'
import { descriptionViolations } from '../projects/service.ts'
import { type StoredSettings, settingParams, settingsAmong, settingViolations } from '../projects/settings.ts'
import { topicsOf, topicViolations } from '../projects/topics.ts'
import { saveCreation } from './project-queries.ts'
import { isWellFormedTime } from './times.ts'

/** Attributes of a project in an archive. Nothing is known of them: the archive may be of anyone's making. */
export type GivenAttributes = Readonly<Record<string, unknown>>

const readSettings = compileParams(Params({ ...settingParams, ...cleanupPolicyParams }))

/** Parameters of requests for attributes that archives have under another name. */
const otherNames: Readonly<Record<string, string>> = { tag_list: 'topics', public_jobs: 'public_builds' }

/**
 * Gives an imported project the attributes of its archive, with the rules of new projects, except those in `chosen`, which the
 * importer chose. The visibility is lowered to what its group and the restrictions of the importer allow. What does not conform is
 * left out: returns the names. No event. The state of the project is locked.
 */
export async function fillProject(
  ctx: Ctx,
  tx: Tx,
  projectId: number,
  given: GivenAttributes,
  chosen: ReadonlySet<string>,
): Promise<string[]> {
  const overridden = new Set([...chosen, ...[...chosen].flatMap((name) => otherNames[name] ?? [])])
  const project = await findProject(tx, ctx.actor, projectId)
  const namespace = project && (await lockNamespace(tx, project.namespace_id))
  if (!namespace) return []
  const leftOut: string[] = []
  const wanted = (name: string): boolean => !overridden.has(name) && given[name] !== undefined
  const valid = <T>(name: string, value: T, ok: boolean): T | undefined => {
    if (!wanted(name)) return undefined
    if (ok) return value
    leftOut.push(name)
    return undefined
  }
  const description = given['description']
  const level = given['visibility_level']
  const open = [20, 10, 0].find(
    (each) => each <= Number(level) && visibilityViolations(ctx, visibilityName(each), namespace).length === 0,
  )
  const topics = given['topics']
  const texts =
    Array.isArray(topics) && topics.every((each): each is string => typeof each === 'string') ? topics : undefined
  const features = featuresIn(given['project_feature'], chosenFeatures(project, overridden), level === 0)
  const settings = given['settings'] === undefined ? undefined : settingsIn(given['settings'], overridden)
  if (settings && !settings.isWhole) leftOut.push('settings')
  const policy = settings?.valid.container_expiration_policy
  const held = policy && (await attributesOf(tx, projectId)).settings.container_expiration_policy
  const changes = {
    description: valid(
      'description',
      description as string,
      description === null ||
        (typeof description === 'string' && isStorable(description) && descriptionViolations(description).length === 0),
    ),
    topics: valid(
      'topics',
      texts && topicsOf(texts),
      texts?.every(isStorable) === true && Object.values(topicViolations({ topics: texts })).flat().length === 0,
    ),
    archived: valid('archived', given['archived'] as boolean, typeof given['archived'] === 'boolean'),
    ...(!overridden.has('visibility') && level !== undefined && { visibility: open ?? 0 }),
    ...features,
    ...(settings && {
      settings: {
        ...settings.valid,
        // The importer may have chosen single attributes of it.
        ...(policy && { container_expiration_policy: { ...policy, ...held } }),
      },
    }),
  }
  await updateProject(
    tx,
    projectId,
    Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)),
  )
  const createdAt = given['created_at']
  if (createdAt !== undefined) {
    if (isWellFormedTime(createdAt)) await saveCreation(tx, projectId, createdAt)
    else leftOut.push('created_at')
  }
  return leftOut
}

const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** The features that the importer chose, by either form of their parameters. */
function chosenFeatures(project: FeatureLevels, overridden: ReadonlySet<string>): Partial<FeatureLevels> {
  const older = (column: string) => column.replace('_access_level', '_enabled').replace('builds', 'jobs')
  const columns = Object.keys(featureLevelsRow) as (keyof FeatureLevels)[]
  return Object.fromEntries(
    columns
      .filter((column) => overridden.has(column) || overridden.has(older(column)))
      .map((column) => [column, project[column]]),
  )
}

/** The features of the archive with those that were chosen. What needs the repository is at most as open as that. */
function featuresIn(given: unknown, chosen: Partial<FeatureLevels>, isPrivate: boolean): Partial<FeatureLevels> {
  if (given === null || typeof given !== 'object') return {}
  const levels: Partial<Record<string, number>> = {}
  for (const column of Object.keys(featureLevelsRow)) {
    const level = (given as Record<string, unknown>)[column]
    const known = column === 'pages_access_level' ? [0, 10, 20, 30] : [0, 10, 20]
    if (known.includes(level as number)) levels[column] = level as number
  }
  const features = { ...newFeatures(isPrivate), ...levels, ...chosen } as FeatureLevels
  const lowered = Object.fromEntries(
    Object.keys(featureViolations(features)).map((column) => [column, features.repository_access_level]),
  )
  return { ...levels, ...chosen, ...lowered } as Partial<FeatureLevels>
}

/** The settings of the archive, each read alone: what is not valid is left out. */
function settingsIn(given: unknown, overridden: ReadonlySet<string>): { valid: StoredSettings; isWhole: boolean } {
  if (given === null || typeof given !== 'object' || Array.isArray(given)) return { valid: {}, isWhole: false }
  const entries = Object.entries(given).map(([name, value]) => settingIn(name, value))
  const read = Object.assign({}, ...entries) as Record<string, unknown>
  const wanted = Object.entries(read).filter(([name]) => name in cleanupPolicyParams || !overridden.has(name))
  return { valid: settingsAmong(Object.fromEntries(wanted)), isWhole: !entries.includes(undefined) }
}

/** Undefined if it is not valid. */
function settingIn(name: string, value: unknown): object | undefined {
  try {
    const parameter = name === 'container_expiration_policy' ? 'container_expiration_policy_attributes' : name
    const read = readSettings({ [parameter]: value } as never, 'PUT') as Record<string, unknown>
    return Object.values(settingViolations(read)).flat().length > 0 ? undefined : read
  } catch (error) {
    if (error instanceof ParameterError) return undefined
    throw error
  }
}
