import { capitalized } from '../../../kernel/capitalized.ts'

/** A section of the document as readers see it. */
export type Tag = { readonly name: string; readonly description: string }

const tag = (name: string, description: string): Tag => ({ name, description })

const accessTokens = tag('Access tokens', 'Personal, impersonation, project and group access tokens')
const commits = tag('Commits', 'Commits, their diffs, signatures, refs and statistics; cherry-picks and reverts')
const repositories = tag('Repositories', 'Trees, blobs, archives, comparisons, submodules and housekeeping')
const files = tag('Files', 'Files of a repository: content, blame, create, update and delete')
const projects = tag('Projects', 'Create, list, update, archive, delete and restore projects')
const issues = tag('Issues', 'Create, update, link and order issues')
const mergeRequests = tag('Merge requests', 'Create, review, rebase and merge merge requests')
const pipelines = tag('Pipelines', 'Pipelines that commit statuses form, and checks of their configuration')
const mirrors = tag(
  'Mirrors',
  'Projects that follow a remote repository, and remote repositories that follow a project',
)
const approvals = tag('Approvals', 'Approvals of merge requests, and the rules that require them')
const users = tag('Users', 'Users, their email addresses, states and statuses, and who follows whom')
const instance = tag('Instance', 'Version, appearance, statistics and terms of the instance')

/** The tag of each folder of endpoints. Folders that readers see as one subject share a tag. */
const tags: Readonly<Record<string, Tag>> = {
  'access-requests': tag('Access requests', 'Requests of users for access to a project or group'),
  appearance: instance,
  'application-settings': tag('Application settings', 'Settings of the instance, for administrators'),
  'approval-rules': approvals,
  approvals,
  archive: repositories,
  archiving: projects,
  audit: tag('Audit events', 'Security-relevant actions in the instance, groups and projects'),
  'award-emoji': tag('Award emoji', 'Emoji reactions to issues, epics, merge requests, snippets and notes'),
  badges: tag('Badges', 'Badges of projects and groups'),
  blame: files,
  boards: tag('Issue boards', 'Boards of projects and groups, and their lists'),
  branches: tag('Branches', 'Branches of a repository'),
  'broadcast-messages': tag('Broadcast messages', 'Messages that all users see, for administrators'),
  'ci-lint': pipelines,
  'commit-comments': tag('Commit comments', 'Comments and discussions on commits'),
  'commit-statuses': tag('Commit statuses', 'Results that external CI systems report for commits, also as jobs'),
  commits,
  compare: repositories,
  'container-registry': tag('Container registry', 'Repositories of container images and their tags'),
  'custom-attributes': tag('Custom attributes', 'Key-value pairs of users, groups and projects, for administrators'),
  'deploy-keys': tag('Deploy keys', 'SSH keys that give access to the repositories of projects'),
  'deploy-tokens': tag('Deploy tokens', 'Tokens for deployments from projects and groups'),
  deployments: tag('Deployments', 'Deployments to environments, as external CI reports them'),
  environments: tag('Environments', 'Environments to which a project is deployed'),
  'change-feed': tag('Change feed', 'Everything that changed, in order, for programs that follow'),
  epics: tag('Epics', 'Epics of groups, their issues and child epics'),
  'event-feed': tag('Events', 'Activity of users and projects'),
  features: tag('Feature flags', 'Feature flags of the instance, for administrators'),
  files,
  follows: users,
  forks: tag('Forks', 'Forks of projects and their relations'),
  'gpg-keys': tag('GPG keys', 'GPG keys of users, which verify signatures'),
  groups: tag('Groups', 'Create, list, update, delete and restore groups'),
  hooks: tag('Hooks', 'URLs that receive the events of projects, groups and the instance'),
  housekeeping: repositories,
  exports: tag('Exports', 'Archives of projects and groups'),
  imports: tag('Imports', 'Projects and groups from archives, and the status of project imports'),
  invitations: tag('Invitations', 'Invitations to projects and groups by email'),
  'issue-links': issues,
  'issue-order': issues,
  issues,
  'label-events': tag('Label events', 'When labels were added to and removed from issues, epics and merge requests'),
  labels: tag('Labels', 'Labels of projects and groups'),
  languages: projects,
  markdown: tag('Markdown', 'HTML of Markdown'),
  members: tag('Members', 'Members of projects and groups and their access levels'),
  'merge-requests': mergeRequests,
  merging: mergeRequests,
  'milestone-events': tag(
    'Milestone events',
    'When milestones were added to and removed from issues and merge requests',
  ),
  milestones: tag('Milestones', 'Milestones of projects and groups'),
  namespaces: tag('Namespaces', 'Namespaces of users and groups'),
  notes: tag(
    'Notes and discussions',
    'Comments and discussions on issues, epics, merge requests, snippets and commits',
  ),
  'notification-settings': tag('Notification settings', 'What the caller is notified about'),
  pictures: tag('Avatars', 'Avatars of users, groups and projects'),
  pipelines,
  'project-creation': projects,
  projects,
  'protected-branches': tag('Protected branches', 'Who may push to and merge into branches'),
  'protected-tags': tag('Protected tags', 'Who may create tags'),
  'pull-mirrors': mirrors,
  'push-mirrors': mirrors,
  'push-rules': tag('Push rules', 'What new commits, branches and files must be like'),
  releases: tag('Releases', 'Releases of a project and their links'),
  'resource-tokens': accessTokens,
  search: tag('Search', 'Search in the instance, a group or a project'),
  services: tag('Integrations', 'Chats and mails that tell what happens in a project'),
  shares: tag('Shares', 'Projects and groups shared with groups'),
  signatures: commits,
  snippets: tag('Snippets', 'Snippets of projects, and personal snippets of users'),
  'ssh-keys': tag('SSH keys', 'SSH keys of users'),
  stars: tag('Stars', 'Projects that users starred'),
  'state-events': tag('State events', 'When issues, epics and merge requests were closed, reopened and merged'),
  statistics: instance,
  storage: repositories,
  submodules: repositories,
  subscriptions: tag('Subscriptions', 'Subscriptions to issues, epics, merge requests and labels, and participants'),
  suggestions: tag('Suggestions', 'Changes that notes on merge requests suggest'),
  tags: tag('Tags', 'Tags of a repository'),
  templates: tag('Templates', 'Templates of licenses, .gitignore files, Dockerfiles, pipelines and descriptions'),
  terms: instance,
  'time-tracking': tag('Time tracking', 'Estimated and spent time of issues and merge requests'),
  todos: tag('Todos', 'Todo list of the caller'),
  tokens: accessTokens,
  topics: tag('Topics', 'Topics of projects'),
  transfers: tag('Transfers', 'Moves of projects and groups to other namespaces'),
  trees: repositories,
  'two-factor': tag('Two-factor authentication', 'Second factor of the caller and of users'),
  uploads: tag('Uploads', 'Files uploaded for the texts of a project'),
  'user-removal': users,
  'user-statuses': users,
  users,
  variables: tag('Variables', 'CI/CD variables of projects, groups and the instance'),
  version: instance,
  wikis: tag('Wikis', 'Wikis of projects and groups: pages and attachments'),
}

/** The tag of a folder of endpoints. A folder without one is named after itself, and the test of the document fails. */
export const tagOf = (area: string): Tag => tags[area] ?? tag(capitalized(area.replaceAll('-', ' ')), '')
