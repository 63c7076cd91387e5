#include "experiments/program/program.h"

int main(int argc, char** argv) { return saccade::run_program(argc, argv); }
