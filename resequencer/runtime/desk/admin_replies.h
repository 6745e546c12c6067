// What an instance answers on the admin topic (schemas/admin.replies.schema.json).
// Thread rule: pure functions of what workers have published or copied.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "admin/document_json.h"
#include "admin/query.h"
#include "runtime/application/application.h"
#include "runtime/desk/state_question.h"
#include "runtime/worker/report.h"

namespace reseq::runtime {

// What every reply says first: protocol, query, and who answers.
[[nodiscard]] admin::Json reply_head(const Application& application, std::string_view query, UnixMs now);

[[nodiscard]] admin::Json refusal_json(const admin::Refused& refused);

// One partition's part of a document or list reply.
[[nodiscard]] admin::Json state_json(const StateAnswer& answer, const Application& application, UnixMs now);

[[nodiscard]] admin::Json stats_reply(const Application& application, const std::vector<Board::Seen>& seen, UnixMs now);
[[nodiscard]] admin::Json topology_reply(const Application& application, const std::vector<Board::Seen>& seen,
                                         UnixMs now);
[[nodiscard]] admin::Json config_reply(const Application& application, const std::vector<Board::Seen>& seen,
                                       UnixMs now);

}  // namespace reseq::runtime
