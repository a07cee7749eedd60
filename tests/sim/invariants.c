/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/invariants.h"

#include "store/server/server_internal.h"

/* PATIENCE of inquire.c, the half lease after which it looks again, and what a slow disk takes. */
#define LEASES 8

static const char *waiting_votes(const struct server_txn *txn)
{
    const struct server_call *call;
    TAILQ_FOREACH(call, &txn->calls, by_txn)
    {
        if ((call->request.flags & WIO_STORE_FLAG_PREPARE) != 0) {
            return "an operation with its vote waits for a lock";
        }
    }
    return NULL;
}

const char *invariants_of(const struct wio_server *server, uint64_t now_ns)
{
    const struct server_session *session;
    const struct server_txn *txn;
    TAILQ_FOREACH(txn, &server->gone, by_session)
    {
        if (txn->state == SERVER_ACTIVE &&
            now_ns > txn->gone_ns + LEASES * server->config.lease_ns) {
            return "locks of a dead client are held without end";
        }
    }
    TAILQ_FOREACH(session, &server->leases, by_lease)
    {
        TAILQ_FOREACH(txn, &session->txns, by_session)
        {
            const char *fault = waiting_votes(txn);
            if (fault != NULL) {
                return fault;
            }
        }
    }
    return NULL;
}
