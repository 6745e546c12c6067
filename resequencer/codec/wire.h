// The wire contract (schemas/wire.md): records in, records out, as views. No Kafka types: pure.
//   command_decoder   a consumed record -> Command
//   output_encoder    an Emission -> a record to produce
//   record_size       upper bounds of what records take
// Thread rule: any thread.
#pragma once

#include "codec/command_decoder.h"
#include "codec/output_encoder.h"
#include "codec/record_size.h"
