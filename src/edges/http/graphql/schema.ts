import { buildSchema } from 'graphql'

/** What clients such as glab ask. Names and types are those of GitLab, so that their queries pass the validation. */
export const schema = buildSchema(/* GraphQL */ `
  "ISO 8601"
  scalar Time

  type Query {
    "The authenticated user; null without one"
    currentUser: CurrentUser
    "Null without an account"
    metadata: Metadata
    "Null if the caller cannot see it"
    project(fullPath: ID!): Project
  }

  type Metadata {
    version: String!
    revision: String!
    enterprise: Boolean!
  }

  type CurrentUser {
    id: ID!
    username: String!
    name: String!
    state: String!
    "Neither blocked nor deactivated"
    active: Boolean
    avatarUrl: String
    webUrl: String!
    webPath: String!
    "True for the user of a project or group access token"
    bot: Boolean!
    "Number of groups of which the user is a direct member"
    groupCount: Int
    "Personal namespace; null without one"
    namespace: Namespace
    publicEmail: String
  }

  type Namespace {
    id: ID!
  }

  type UserCore {
    id: ID!
    username: String!
    name: String!
    state: String!
    "Neither blocked nor deactivated"
    active: Boolean
    avatarUrl: String
    webUrl: String!
    webPath: String!
  }

  type Project {
    id: ID!
    name: String!
    path: String!
    fullPath: ID!
    visibility: String
    archived: Boolean
    webUrl: String
    httpUrlToRepo: String
    sshUrlToRepo: String
    "Null if the caller cannot read it"
    mergeRequest(iid: String!): MergeRequest
  }

  enum MergeRequestState {
    opened
    closed
    locked
    merged
  }

  type MergeRequest {
    id: ID!
    iid: String!
    title: String!
    description: String
    state: MergeRequestState!
    draft: Boolean!
    sourceBranch: String!
    targetBranch: String!
    diffHeadSha: String
    createdAt: Time!
    updatedAt: Time!
    webUrl: String
    author: UserCore
  }
`)
