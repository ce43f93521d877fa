import type { Relation } from '../../../db/portable/relation.ts'
import { type Oid, parseOid } from '../../../git/format/oid.ts'
import type { Unpacked } from '../archive/unpack.ts'
import * as entries from '../layout/names.ts'
import { addBoard } from './boards.ts'
import { Converter } from './converter.ts'
import {
  addMilestone,
  convertNoteable,
  type Noteables,
  noteableLabel,
  noteableMilestone,
  partsOf,
} from './noteables.ts'
import { convertPipelines } from './pipelines.ts'
import { addRules } from './rules.ts'
import { SnippetConverter, type SnippetFile } from './snippets.ts'
import type { ReferenceTree } from './tree.ts'
import { isRelationName, listIn, type Nested, oneIn, pick, timeOf, timesOf } from './values.ts'

/** Relations of one record each with settings of the project. */
const settingRelations = ['project_feature', 'auto_devops', 'container_expiration_policy', 'ci_cd_settings'] as const

/** Attributes of the project in the form of ours. */
function attributesOf(project: Nested): Nested {
  const method = project['merge_requests_ff_only_enabled']
    ? 'ff'
    : project['merge_requests_rebase_enabled']
      ? 'rebase_merge'
      : 'merge'
  const settings = pick(
    project,
    'only_allow_merge_if_pipeline_succeeds',
    'only_allow_merge_if_all_discussions_are_resolved',
    'resolve_outdated_diff_discussions',
    'request_access_enabled',
    'shared_runners_enabled',
    'public_builds',
    'build_timeout',
    'build_coverage_regex',
    'ci_config_path',
    'printing_merge_request_link_enabled',
    'suggestion_commit_message',
    'autoclose_referenced_issues',
    'remove_source_branch_after_merge',
    'approvals_before_merge',
    'external_authorization_classification_label',
    'auto_cancel_pending_pipelines',
    'service_desk_enabled',
  )
  const { enabled, deploy_strategy } = oneIn(project, 'auto_devops') ?? {}
  const policy = oneIn(project, 'container_expiration_policy')
  const { default_git_depth, forward_deployment_enabled } = oneIn(project, 'ci_cd_settings') ?? {}
  const others = {
    build_git_strategy: project['build_allow_git_fetch'] === false ? 'clone' : null,
    auto_devops_enabled: enabled ?? null,
    auto_devops_deploy_strategy: deploy_strategy ?? null,
    ci_default_git_depth: default_git_depth,
    ci_forward_deployment_enabled: forward_deployment_enabled,
    container_expiration_policy:
      policy && pick(policy, 'enabled', 'cadence', 'keep_n', 'older_than', 'name_regex', 'name_regex_keep'),
  }
  return {
    ...pick(project, 'description', 'visibility_level', 'archived'),
    settings: {
      ...Object.fromEntries(Object.entries({ ...settings, ...others }).filter(([, value]) => value != null)),
      merge_method: method,
    },
    project_feature: {
      ...(project['container_registry_enabled'] === false && { container_registry_access_level: 0 }),
      ...oneIn(project, 'project_feature'),
    },
  }
}

/** Commits at which the source branch of a merge request was, the best first. */
const headsOf = (request: Nested): readonly Oid[] =>
  [
    request['diff_head_sha'],
    request['source_branch_sha'],
    oneIn(request, 'merge_request_diff')?.['head_commit_sha'],
  ].flatMap((value) => (typeof value === 'string' && parseOid(value)) || [])

/** What an archive of the reference product is as one of ours. */
export type Converted = {
  readonly attributes: Nested
  readonly unpacked: Unpacked
  /** Snippets that are one file, by the lines of their records. */
  readonly snippetFiles: ReadonlyMap<number, SnippetFile>
  /** Commits that may be the heads of merge requests from forks, by their numbers. */
  readonly heads: ReadonlyMap<unknown, readonly Oid[]>
  readonly leftOut: ReadonlyMap<string, number>
}

/** Converts the records of an archive of the reference product, in both of its layouts, to files in a folder: those of the relations. */
export async function convertProject(
  given: ReferenceTree,
  unpacked: Unpacked,
  { folder, relations }: { readonly folder: string; readonly relations: readonly Relation[] },
): Promise<Converted> {
  const to = new Converter(folder, relations)
  const unread = new Set(given.names)
  const tree: ReferenceTree = {
    ...given,
    of(name) {
      unread.delete(name)
      return given.of(name)
    },
  }
  for await (const member of tree.of('project_members')) await addMember(to, member, { name: 'project_members' })
  const noteables: Noteables = { to, labels: new Map(), milestones: new Map() }
  for await (const label of tree.of('labels')) await noteableLabel(noteables, label)
  for await (const milestone of tree.of('milestones'))
    await addMilestone(noteables, milestone, (milestone['group_id'] ?? null) !== null)
  for await (const issue of tree.of('issues')) await convertNoteable(noteables, 'issue', issue)
  const heads = new Map<unknown, readonly Oid[]>()
  for await (const request of tree.of('merge_requests')) {
    await convertNoteable(noteables, 'merge_request', request)
    if (request['state'] === 'opened' && request['source_project_id'] !== request['target_project_id'])
      heads.set(request['iid'], headsOf(request))
  }
  const snippets = new SnippetConverter(to, unpacked, folder)
  for await (const snippet of tree.of('snippets')) await snippets.add(snippet)
  snippets.finish()
  for await (const release of tree.of('releases')) await addRelease(noteables, release)
  await convertPipelines(to, tree.of('ci_pipelines'))
  for (const kind of ['branch', 'tag'] as const)
    for await (const one of tree.of(kind === 'branch' ? 'protected_branches' : 'protected_tags'))
      await addProtection(to, kind, one)
  for await (const board of tree.of('boards')) await addBoard(to, board, partsOf(noteables))
  for await (const badge of tree.of('project_badges'))
    await to.add('badges', { ...pick(badge, 'name', 'link_url', 'image_url'), ...timesOf(badge) })
  for (const name of settingRelations)
    for await (const one of tree.of(name)) Object.assign(tree.project, { [name]: one })
  await addRules(to, tree)
  // These have no place here.
  for (const name of unread) if (isRelationName(name)) for await (const _one of given.of(name)) to.leaveOut(name)
  const now = timeOf(tree.project['created_at']) ?? new Date().toISOString()
  for (const name of unpacked.keys()) {
    const [, secret, filename] = /^uploads\/([0-9a-f]{32})\/([^/]+)$/.exec(name) ?? []
    if (secret !== undefined) await to.add('uploads', { secret, filename, created_at: now })
    const oid = /^lfs-objects\/([0-9a-f]{64})$/.exec(name)?.[1]
    if (oid !== undefined) await to.add('lfs_objects', { oid, created_at: now })
    if (name === 'project.design.bundle') to.leaveOut('designs')
  }
  const made = await to.finish(entries.relationEntry)
  const kept = [...unpacked].filter(([name]) => !/^(tree|snippets)\//.test(name))
  const { files, bundles } = snippets.contents
  return {
    attributes: attributesOf(tree.project),
    unpacked: new Map([...kept, ...bundles, ...made]),
    snippetFiles: files,
    heads,
    leftOut: to.leftOut,
  }
}

/** Adds a member as a record of a relation, and makes the user known by id. */
export async function addMember(
  to: Converter,
  member: Nested,
  { name, within }: { readonly name: 'project_members' | 'members'; readonly within?: Nested },
): Promise<void> {
  const user = oneIn(member, 'user')
  const username = user?.['username']
  if (!user || typeof username !== 'string') return to.leaveOut(name)
  const email = typeof user['email'] === 'string' ? user['email'] : undefined
  to.addPerson(user['id'], { username, name: username, email })
  await to.add(name, {
    ...within,
    user: username,
    access_level: member['access_level'],
    expires_at: member['expires_at'],
    ...timesOf(member),
  })
}

async function addRelease(noteables: Noteables, release: Nested): Promise<void> {
  const { to } = noteables
  const times = timesOf(release)
  const line = await to.add('releases', {
    ...pick(release, 'tag', 'name'),
    description: release['description'] ?? '',
    author: to.userOf(release['author_id']),
    released_at: timeOf(release['released_at']) ?? times.created_at,
    ...times,
  })
  if (line === undefined) return
  for (const named of listIn(release, 'milestone_releases')) {
    const milestone = await noteableMilestone(noteables, oneIn(named, 'milestone'))
    if (milestone === undefined) to.leaveOut('release_milestones')
    else await to.add('release_milestones', { release: line, milestone })
  }
  for (const link of listIn(release, 'links'))
    await to.add('release_links', {
      release: line,
      ...pick(link, 'name', 'url'),
      link_type: link['link_type'] ?? 'other',
      ...timesOf(link),
    })
}

const actions = {
  branch: { push_access_levels: 'push', merge_access_levels: 'merge', unprotect_access_levels: 'unprotect' },
  tag: { create_access_levels: 'create' },
} as const

/** Access of users who are no members, of groups and of deploy keys is left out. */
async function addProtection(to: Converter, kind: 'branch' | 'tag', one: Nested): Promise<void> {
  const line = await to.add('protected_refs', {
    kind,
    name: one['name'],
    ...(kind === 'branch' && pick(one, 'allow_force_push', 'code_owner_approval_required')),
    ...timesOf(one),
  })
  if (line === undefined) return
  for (const [name, action] of Object.entries(actions[kind]))
    for (const access of listIn(one, name)) {
      const user = access['user_id'] === null ? undefined : to.usernames.get(access['user_id'])
      const others = access['user_id'] ?? access['group_id'] ?? access['deploy_key_id'] ?? null
      const isOfOther = user === undefined && others !== null
      if (isOfOther) to.leaveOut('protected_ref_access')
      else
        await to.add('protected_ref_access', {
          protected_ref: line,
          action,
          ...(user === undefined ? { access_level: access['access_level'] } : { user }),
        })
    }
}
