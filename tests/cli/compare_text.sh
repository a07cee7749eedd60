# SPDX-License-Identifier: Apache-2.0
make_trace checkpoint checkpoint
make_trace replayed replayed
whyio compare --root-b=/target checkpoint replayed
