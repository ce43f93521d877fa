import { describe, expect, test } from 'vitest'
import { commitPolicy } from './commit-policy.ts'
import { epicPolicy } from './epic-policy.ts'
import { instanceFacts } from './instance-policy.ts'
import { issuePolicy } from './issue-policy.ts'
import { mergeRequestPolicy } from './merge-request-policy.ts'
import type { Rule } from './policy.ts'
import { personalSnippetPolicy, snippetPolicy, snippetsPolicy } from './snippet-policy.ts'
import { all, changedBy, flag, forUsers, least, matches, refused, without } from './testing.ts'

describe('abilities on merge requests', () => {
  matches('merge request', mergeRequestPolicy, [
    ['read_project', 'guest', 'anonymous'],
    ['read_merge_request', 'reporter', 'stranger'],
    ['update_merge_request', 'developer', 'developer'],
    ['admin_merge_request', 'developer', 'developer'],
    ['merge', 'reporter', 'stranger'],
    ['approve', 'developer', 'developer'],
    ['unapprove', 'reporter', 'stranger'],
    ['reset_approvals', 'developer', 'developer'],
    ['rebase', 'reporter', 'stranger'],
    ['apply_suggestion', 'reporter', 'stranger'],
    ['remove_merge_request', 'owner', 'owner'],
    ['comment', 'reporter', 'stranger'],
    ['award', 'reporter', 'stranger'],
    ['resolve_discussion', 'developer', 'developer'],
    ['admin_note', 'maintainer', 'maintainer'],
    ['date_note', 'owner', 'owner'],
  ])

  test('no one changes merge requests of archived projects', () => {
    const { read_project, read_merge_request, ...writes } = mergeRequestPolicy
    expect(changedBy(mergeRequestPolicy, flag('archived'))).toEqual(all(refused, ...Object.keys(writes)))
  })

  test('no one reads or changes merge requests while they are disabled', () => {
    const { read_project, ...others } = mergeRequestPolicy
    expect(changedBy(mergeRequestPolicy, without('merge_requests'))).toEqual(all(refused, ...Object.keys(others)))
  })

  test('author and assignees update a merge request and resolve its discussions', () => {
    expect(changedBy(mergeRequestPolicy, flag('own'))).toEqual(
      all(forUsers, 'update_merge_request', 'resolve_discussion'),
    )
  })

  test('a locked merge request takes comments and awards of members only', () => {
    expect(changedBy(mergeRequestPolicy, flag('locked'))).toEqual(all('reporter, reporter', 'comment', 'award'))
  })

  test('designated approvers approve; excluded users never do', () => {
    expect(changedBy(mergeRequestPolicy, flag('approver'))).toEqual(all(forUsers, 'approve'))
    expect(changedBy(mergeRequestPolicy, flag('excluded'))).toEqual(all(refused, 'approve'))
  })

  test('authors edit their notes; no one edits or awards a note of the service', () => {
    expect(changedBy(mergeRequestPolicy, flag('own_note'))).toEqual(all(forUsers, 'admin_note'))
    expect(changedBy(mergeRequestPolicy, flag('system_note'))).toEqual(all(refused, 'award', 'admin_note'))
  })
})

describe('abilities on snippets', () => {
  matches('snippet', snippetPolicy, [
    ['read_project', 'guest', 'anonymous'],
    ['read_snippet', 'guest', 'anonymous'],
    ['update_snippet', 'maintainer', 'maintainer'],
    ['remove_snippet', 'maintainer', 'maintainer'],
    ['read_user_agent', 'administrator', 'administrator'],
    ['comment', 'guest', 'stranger'],
    ['award', 'guest', 'stranger'],
    ['admin_note', 'maintainer', 'maintainer'],
    ['date_note', 'owner', 'owner'],
  ])
  matches('personal snippet', personalSnippetPolicy, [
    ['read_snippet', 'owner', 'anonymous'],
    ['update_snippet', 'owner', 'owner'],
    ['remove_snippet', 'owner', 'owner'],
    ['read_user_agent', 'administrator', 'administrator'],
  ])

  test('no one changes snippets of archived projects', () => {
    const { read_project, read_snippet, read_user_agent, ...writes } = snippetPolicy
    expect(changedBy(snippetPolicy, flag('archived'))).toEqual(all(refused, ...Object.keys(writes)))
  })

  test('no one reads or changes snippets while they are disabled, or a snippet that is hidden from them', () => {
    const { read_project, ...others } = snippetPolicy
    const { read_user_agent, ...hidden } = others
    expect(changedBy(snippetPolicy, without('snippets'))).toEqual(all(refused, ...Object.keys(others)))
    expect(changedBy(snippetPolicy, flag('hidden'))).toEqual(all(refused, ...Object.keys(hidden)))
  })

  test('authors change and delete their snippets; internal ones of others only administrators', () => {
    expect(changedBy(snippetPolicy, flag('own'))).toEqual(all(forUsers, 'update_snippet', 'remove_snippet'))
    expect(changedBy(snippetPolicy, flag('internal_of_other'))).toEqual(
      all(refused, 'update_snippet', 'remove_snippet'),
    )
  })

  test('authors edit their notes on snippets; no one edits or awards a note of the service', () => {
    expect(changedBy(snippetPolicy, flag('own_note'))).toEqual(all(forUsers, 'admin_note'))
    expect(changedBy(snippetPolicy, flag('system_note'))).toEqual(all(refused, 'award', 'admin_note'))
  })

  test('users create personal snippets unless they are external', () => {
    const of = (rule: Rule, flags = {}) => least(rule, instanceFacts.visibility, { flags })
    expect(of(snippetsPolicy.create_snippet)).toBe('stranger')
    expect(of(snippetsPolicy.create_snippet, { external: true })).toBe('never')
    expect(of(snippetsPolicy.list_all)).toBe('owner')
    expect(of(snippetsPolicy.list_own)).toBe('stranger')
  })
})

describe('abilities on commits', () => {
  matches('commit', commitPolicy, [
    ['read_project', 'guest', 'anonymous'],
    ['read_code', 'reporter', 'anonymous'],
    ['comment', 'reporter', 'stranger'],
    ['award', 'reporter', 'stranger'],
    ['admin_note', 'maintainer', 'maintainer'],
    ['date_note', 'owner', 'owner'],
  ])

  test('no one writes about commits of archived projects, or has access to commits while the repository is disabled', () => {
    const { read_project, read_code, ...writes } = commitPolicy
    expect(changedBy(commitPolicy, flag('archived'))).toEqual(all(refused, ...Object.keys(writes)))
    expect(changedBy(commitPolicy, without('repository'))).toEqual(all(refused, 'read_code', ...Object.keys(writes)))
  })

  test('authors edit their notes on commits; no one edits or awards a note of the service', () => {
    expect(changedBy(commitPolicy, flag('own_note'))).toEqual(all(forUsers, 'admin_note'))
    expect(changedBy(commitPolicy, flag('system_note'))).toEqual(all(refused, 'award', 'admin_note'))
  })
})

describe('abilities on issues', () => {
  matches('issue', issuePolicy, [
    ['read_project', 'guest', 'anonymous'],
    ['read_issue', 'guest', 'stranger'],
    ['update_issue', 'reporter', 'reporter'],
    ['admin_issue', 'reporter', 'reporter'],
    ['reopen_issue', 'reporter', 'reporter'],
    ['move_issue', 'reporter', 'reporter'],
    ['remove_issue', 'owner', 'owner'],
    ['read_user_agent', 'administrator', 'administrator'],
    ['comment', 'guest', 'stranger'],
    ['award', 'guest', 'stranger'],
    ['admin_note', 'maintainer', 'maintainer'],
    ['date_note', 'owner', 'owner'],
  ])

  test('no one changes issues of archived projects', () => {
    const { read_project, read_issue, read_user_agent, ...writes } = issuePolicy
    expect(changedBy(issuePolicy, flag('archived'))).toEqual(all(refused, ...Object.keys(writes)))
  })

  test('no one reads or changes issues while they are disabled, or an issue that is hidden from them', () => {
    const { read_project, ...others } = issuePolicy
    expect(changedBy(issuePolicy, without('issues'))).toEqual(all(refused, ...Object.keys(others)))
    expect(changedBy(issuePolicy, flag('hidden'))).toEqual(all(refused, ...Object.keys(others)))
  })

  test('author and assignees update, close and reopen an issue', () => {
    expect(changedBy(issuePolicy, flag('own'))).toEqual(all(forUsers, 'update_issue', 'reopen_issue'))
  })

  test('a locked issue takes comments and awards of members only, and is not reopened', () => {
    expect(changedBy(issuePolicy, flag('locked'))).toEqual(all('guest, guest', 'comment', 'award'))
    expect(changedBy(issuePolicy, flag('locked_for_all'))).toEqual(all(refused, 'reopen_issue'))
  })

  test('authors edit their notes on issues; no one edits or awards a note of the service', () => {
    expect(changedBy(issuePolicy, flag('own_note'))).toEqual(all(forUsers, 'admin_note'))
    expect(changedBy(issuePolicy, flag('system_note'))).toEqual(all(refused, 'award', 'admin_note'))
  })
})

describe('abilities on epics', () => {
  matches('epic', epicPolicy, [
    ['read_group', 'guest', 'anonymous'],
    ['read_epic', 'guest', 'stranger'],
    ['update_epic', 'reporter', 'reporter'],
    ['remove_epic', 'owner', 'owner'],
    ['comment', 'guest', 'stranger'],
    ['award', 'guest', 'stranger'],
    ['admin_note', 'maintainer', 'maintainer'],
    ['date_note', 'owner', 'owner'],
  ])

  test('no one reads or changes an epic that is hidden from them', () => {
    const { read_group, ...others } = epicPolicy
    expect(changedBy(epicPolicy, flag('hidden'))).toEqual(all(refused, ...Object.keys(others)))
  })

  test('authors edit their notes on epics; no one edits or awards a note of the service', () => {
    expect(changedBy(epicPolicy, flag('own_note'))).toEqual(all(forUsers, 'admin_note'))
    expect(changedBy(epicPolicy, flag('system_note'))).toEqual(all(refused, 'award', 'admin_note'))
  })
})
